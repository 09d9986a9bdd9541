// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// CacheFile: decoded images in one memory-mapped file that several processes of a node fill and read together. It knows
// only bytes and numbers; disk_cache.h knows the data set.
//
// Layout, all numbers 64 bits in the machine's byte order:
//   a page of header: magic, version, number of samples, bytes of a segment, key, hash of these, end of allocated space
//   a record of 8 words per sample: state, offset, sides, form, identity, pixel hash, hash of the pixels, of the record
//   pixels
// Pixels never cross the border of a segment. Segments are mapped one at a time, so the file may grow without limit.
//
// A crash leaves nothing wrong. One atomic number allocates space, pixels are written before their record, and the
// record's state after its other words. Pixels and record have hashes that are checked when a process first uses them.
// The page cache keeps everything that a killed process wrote. After a power failure, data that did not reach the disk
// have a wrong hash and are decoded again. No space is allocated twice: a process that opens the file begins behind its
// end.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/thread_annotations.h"
#include "data/image.h"
#include "io/descriptor.h"

namespace roentgen::data {

/// One image.
struct CacheEntry {
  ImageLayout layout;  ///< form of the pixels
  /// Identity of the file from which the image was decoded.
  std::uint64_t identity = 0;
  /// Hash of the decoded image, before any shrinking.
  std::uint64_t pixel_hash = 0;
  /// layout.bytes() of them, 64-byte aligned; they live as long as the CacheFile.
  std::span<const std::byte> pixels{};
};

/// Parameters that a file was made for; a file of other parameters is removed and started anew.
struct CacheFileForm {
  /// 32 hex digits.
  std::string_view key;
  std::int64_t samples = 0;  ///< number of records
  /// A multiple of 64 KiB. Larger images are not kept.
  std::uint64_t segment_bytes = std::uint64_t{1} << 28;
};

/// Thread-safe. Others must remove the file, not cut it short: that ends its use.
class CacheFile {
 public:
  /// Opens or makes it. DataError when there is no room for its records, or no file can be made or mapped.
  CacheFile(const std::filesystem::path& path, const CacheFileForm& form);
  CacheFile(const CacheFile&) = delete;
  CacheFile& operator=(const CacheFile&) = delete;
  ~CacheFile();

  /// The right to decode a sample, among processes; the system takes it from one that dies. On file systems without
  /// locks everybody has it.
  class Claim {
   public:
    Claim(const CacheFile& file, std::uint32_t sample);  ///< waits for it
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;
    ~Claim();

   private:
    const int descriptor_;
    const std::int64_t byte_;
  };
  /// Waits while another process has it. One thread of a process at a time may ask for the same sample.
  [[nodiscard]] Claim claim(std::uint32_t sample) const { return {*this, sample}; }

  /// Entry of a sample; nullopt if there is none or its hashes are wrong. DataError as require_intact().
  [[nodiscard]] std::optional<CacheEntry> find(std::uint32_t sample) const;
  /// DataError naming the file where somebody has cut it short: pixels of an entry that were read since the last call
  /// may have been zeros.
  void require_intact() const;
  /// Replaces the stored entry. Failure: too large, no room, or an error of the system. Throws DataError as
  /// require_intact(). One thread of one process at a time for the same sample: see claim().
  [[nodiscard]] Status put(std::uint32_t sample, const CacheEntry& entry);

  /// Larger images are not kept.
  [[nodiscard]] std::uint64_t largest_bytes() const { return segment_bytes_; }
  /// Samples whose records say that they are kept.
  [[nodiscard]] std::int64_t kept() const;
  /// Free bytes of the disk for this user.
  [[nodiscard]] std::uint64_t free_bytes() const;

 private:
  using Word = std::atomic<std::uint64_t>;
  static constexpr std::size_t kWords = 8;
  static_assert(Word::is_always_lock_free);

  void open(const std::filesystem::path& path, const CacheFileForm& form);
  [[nodiscard]] bool is_of(const CacheFileForm& form) const;
  void initialise(const CacheFileForm& form) const;
  [[nodiscard]] std::span<Word> record(std::uint32_t sample) const;
  [[nodiscard]] std::uint64_t size_bytes() const;
  /// Allocates `bytes` and returns their offset; nullopt where they fit in no segment.
  [[nodiscard]] std::optional<std::uint64_t> give_away(std::uint64_t bytes);
  [[nodiscard]] const std::byte* mapped(std::uint64_t offset) const;
  /// Grows the file to at least this length.
  void expect_bytes(std::uint64_t bytes) const;

  const std::filesystem::path path_;
  io::Descriptor file_{-1};
  std::int64_t samples_ = 0;
  std::uint64_t segment_bytes_ = 0;
  /// Header and records.
  std::span<std::byte> index_;
  mutable std::vector<std::atomic<const std::byte*>> segments_;
  mutable Mutex mapping_;
  mutable std::atomic<std::uint64_t> expected_bytes_ = 0;
  /// Offset at which a sample's pixels were verified; 0: not yet.
  mutable std::vector<Word> sound_at_;
};

}  // namespace roentgen::data
