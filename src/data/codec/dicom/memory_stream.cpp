// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/dicom/memory_stream.h"

#include <algorithm>
#include <cstring>

#include <dcmtk/dcmdata/dcerror.h>

namespace roentgen::data {
namespace {

/// Opens the bytes again where a value begins. DCMTK owns it.
class MemoryFactory final : public DcmInputStreamFactory {
 public:
  MemoryFactory(std::span<const std::byte> bytes, std::size_t at) : bytes_(bytes), at_(at) {}
  DcmInputStream* create() const override { return new MemoryStream(bytes_, at_); }
  DcmInputStreamFactory* clone() const override { return new MemoryFactory(bytes_, at_); }
  DcmInputStreamFactoryType ident() const override { return DFT_DcmInputFileStreamFactory; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_;
};

}  // namespace

OFCondition MemoryProducer::status() const { return is_good_ ? EC_Normal : EC_PutbackFailed; }

offile_off_t MemoryProducer::read(void* buffer, offile_off_t length) {
  const std::size_t begin = at_;
  const offile_off_t done = skip(length);
  if (done > 0) std::memcpy(buffer, bytes_.data() + begin, static_cast<std::size_t>(done));
  return done;
}

offile_off_t MemoryProducer::skip(offile_off_t length) {
  if (!is_good_ || length <= 0) return 0;
  const offile_off_t done = std::min(length, avail());
  at_ += static_cast<std::size_t>(done);
  return done;
}

void MemoryProducer::putback(offile_off_t length) {
  is_good_ = is_good_ && length >= 0 && static_cast<std::size_t>(length) <= at_;
  if (is_good_) at_ -= static_cast<std::size_t>(length);
}

DcmInputStreamFactory* MemoryStream::newFactory() const { return new MemoryFactory(producer_.bytes(), producer_.at()); }

}  // namespace roentgen::data
