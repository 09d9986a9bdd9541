// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Input stream for DCMTK over a file in memory. DCMTK's own memory stream loads every value at once, in the length that
// the file claims. With this stream DCMTK loads only short values at once. So it never allocates memory for data that
// do not exist.
#pragma once

#include <dcmtk/config/osconfig.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include <dcmtk/dcmdata/dcerror.h>
#include <dcmtk/dcmdata/dcistrma.h>

namespace roentgen::data {

/// Values longer than this are loaded only on request.
inline constexpr Uint32 kLongValue_bytes = 1024;

/// Producer over bytes in memory. The bytes must outlive it.
class MemoryProducer final : public DcmProducer {
 public:
  MemoryProducer(std::span<const std::byte> bytes, std::size_t at) : bytes_(bytes), at_(at) {}
  OFBool good() const override { return is_good_; }
  OFCondition status() const override { return is_good_ ? EC_Normal : EC_PutbackFailed; }
  OFBool eos() override { return !is_good_ || at_ == bytes_.size(); }
  offile_off_t avail() override { return static_cast<offile_off_t>(bytes_.size() - at_); }
  offile_off_t read(void* buffer, offile_off_t length) override {
    const std::size_t begin = at_;
    const offile_off_t done = skip(length);
    if (done > 0) std::memcpy(buffer, bytes_.data() + begin, static_cast<std::size_t>(done));
    return done;
  }
  offile_off_t skip(offile_off_t length) override {
    if (!is_good_ || length <= 0) return 0;
    const offile_off_t done = std::min(length, avail());
    at_ += static_cast<std::size_t>(done);
    return done;
  }
  void putback(offile_off_t length) override {
    is_good_ = is_good_ && length >= 0 && static_cast<std::size_t>(length) <= at_;
    if (is_good_) at_ -= static_cast<std::size_t>(length);
  }

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_;
  bool is_good_ = true;
};

/// Stream from offset `at` to the end of `bytes`. The bytes must outlive the stream and all values that were read from
/// the stream. One thread.
class MemoryStream final : public DcmInputStream {
 public:
  explicit MemoryStream(std::span<const std::byte> bytes, std::size_t at = 0)
      : DcmInputStream(&producer_), producer_(bytes, at) {}  // the base only stores the address
  DcmInputStreamFactory* newFactory() const override { return new Factory(producer_.bytes(), producer_.at()); }
  [[nodiscard]] std::size_t at() const { return producer_.at(); }

 private:
  /// Reopens the bytes at the start of a value. DCMTK owns it.
  class Factory final : public DcmInputStreamFactory {
   public:
    Factory(std::span<const std::byte> bytes, std::size_t at) : bytes_(bytes), at_(at) {}
    DcmInputStream* create() const override { return new MemoryStream(bytes_, at_); }
    DcmInputStreamFactory* clone() const override { return new Factory(bytes_, at_); }
    DcmInputStreamFactoryType ident() const override { return DFT_DcmInputFileStreamFactory; }

   private:
    std::span<const std::byte> bytes_;
    std::size_t at_;
  };

  MemoryProducer producer_;
};

}  // namespace roentgen::data
