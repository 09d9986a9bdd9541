// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// CacheFile: decoded images in one memory-mapped file that several processes of a node fill and read together. It
// handles only bytes and numbers; disk_cache.h (a file on disk) and shared_cache.h (memory) handle the data set.
//
// Layout, all numbers 64 bits in the machine's byte order:
//   header, one page: magic, version, number of samples, bytes of a segment, key, hash of these, end of allocated space
//   record of 8 words per sample: state, offset, sides, form, identity, pixel hash, hash of pixels, hash of record
//   pixels
// Pixels never cross the border of a segment. Segments are mapped one at a time, so the file may grow without limit.
//
// A crash cannot corrupt the file. One atomic number allocates space. Pixels are written before their record, and a
// record's state after its other words. Hashes of pixels and records are checked when a process first uses them. The
// page cache keeps everything that a killed process wrote. After a power failure, data that did not reach the disk have
// a wrong hash and are decoded again. No space is allocated twice: a process that opens the file allocates only after
// its end.
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

/// A cached image.
struct CacheEntry {
  ImageLayout layout;  ///< layout of the pixels
  /// Identity of the file from which the image was decoded.
  std::uint64_t identity = 0;
  /// Hash of the decoded image (pixel_hashes.h), before it was shrunk.
  std::uint64_t pixel_hash = 0;
  /// layout.bytes() bytes, 64-byte aligned. Valid as long as the CacheFile exists.
  std::span<const std::byte> pixels{};
};

/// Parameters of a cache file. A file with other parameters is removed and created again.
struct CacheFileForm {
  /// Key of the data set and preprocessing, 32 hex digits.
  std::string_view key;
  std::int64_t samples = 0;  ///< number of records
  /// Size of a segment, a multiple of 64 KiB. Larger images are not stored.
  std::uint64_t segment_bytes = std::uint64_t{1} << 28;
  /// Largest size of the file in bytes, without its records. May differ between processes.
  std::uint64_t most_bytes = ~std::uint64_t{0};
};

/// Cache file. Thread-safe. Other programs may remove the file but not truncate it: truncation ends its use.
class CacheFile {
 public:
  /// Opens or creates the file. Throws DataError if the disk has no space for its records, or if it cannot be created
  /// or mapped.
  CacheFile(const std::filesystem::path& path, const CacheFileForm& form);
  /// Uses an open file, and initialises it if it is empty. `name` names it in messages. Throws DataError as the other
  /// constructor does, or if it is a file with other parameters.
  CacheFile(io::Descriptor file, std::string_view name, const CacheFileForm& form);
  CacheFile(const CacheFile&) = delete;
  CacheFile& operator=(const CacheFile&) = delete;
  ~CacheFile();

  /// Lock on decoding one sample, held by one process at a time. The system releases it if the process dies. On file
  /// systems without locks, every process gets the lock.
  class Claim {
   public:
    Claim(const CacheFile& file, std::uint32_t sample);  ///< waits for the lock
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;
    ~Claim();

   private:
    const int descriptor_;
    const std::int64_t byte_;
  };
  /// Waits while another process holds the lock. Only one thread of a process may request the same sample at a time.
  [[nodiscard]] Claim claim(std::uint32_t sample) const { return {*this, sample}; }

  /// Returns the entry of a sample; nullopt if there is none or its hashes are wrong. Throws DataError as
  /// require_intact() does.
  [[nodiscard]] std::optional<CacheEntry> find(std::uint32_t sample) const;
  /// Throws DataError that names the file if another program has truncated it. Pixels that were read since the last
  /// call may then have been zeros.
  void require_intact() const;
  /// Reserves the record of a sample that no process has stored or reserved. Returns false if there is one. After true,
  /// the caller stores the sample by put(). If the process dies before, the sample is never stored.
  [[nodiscard]] bool reserve(std::uint32_t sample);
  /// Replaces the stored entry. Fails if the image is too large, the disk is full, or a system call fails. Throws
  /// DataError as require_intact() does. Only one thread of one process at a time may store the same sample: claim() or
  /// reserve() ensure it.
  [[nodiscard]] Status put(std::uint32_t sample, const CacheEntry& entry);

  /// Largest size of an image in bytes; larger images are not stored.
  [[nodiscard]] std::uint64_t largest_bytes() const { return segment_bytes_; }
  /// Number of samples that are stored.
  [[nodiscard]] std::int64_t kept() const;
  /// Free space on the disk for this user, in bytes.
  [[nodiscard]] std::uint64_t free_bytes() const;

 private:
  using Word = std::atomic<std::uint64_t>;
  static constexpr std::size_t kWords = 8;
  static_assert(Word::is_always_lock_free);

  void open(const std::filesystem::path& path, const CacheFileForm& form);
  void map(const CacheFileForm& form);
  [[nodiscard]] bool is_of(const CacheFileForm& form) const;
  void initialise(const CacheFileForm& form) const;
  [[nodiscard]] std::span<Word> record(std::uint32_t sample) const;
  [[nodiscard]] std::uint64_t size_bytes() const;
  /// Allocates `bytes` within one segment and returns their offset; nullopt if they do not fit.
  [[nodiscard]] std::optional<std::uint64_t> give_away(std::uint64_t bytes);
  [[nodiscard]] const std::byte* mapped(std::uint64_t offset) const;
  /// Extends the file to at least this length.
  void expect_bytes(std::uint64_t bytes) const;

  const std::filesystem::path path_;
  const bool is_on_disk_;
  io::Descriptor file_{-1};
  std::int64_t samples_ = 0;
  std::uint64_t segment_bytes_ = 0;
  std::uint64_t most_bytes_ = 0;
  /// Mapped header and records.
  std::span<std::byte> index_;
  mutable std::vector<std::atomic<const std::byte*>> segments_;
  mutable Mutex mapping_;
  mutable std::atomic<std::uint64_t> expected_bytes_ = 0;
  /// Offset at which a sample's pixels were verified; 0: not verified yet.
  mutable std::vector<Word> sound_at_;
};

}  // namespace roentgen::data
