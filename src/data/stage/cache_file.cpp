// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/cache_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "io/descriptor.h"
#include "io/map_guard.h"
#include "io/sha256.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMagic = 0x4548'4341'434E'4752;  // "RGNCACHE", little endian
constexpr std::uint64_t kVersion = 1;
constexpr std::uint64_t kReady = 0x5259'4441'4552'0001;
constexpr std::uint64_t kReserved = 0x5259'4441'4552'0002;
constexpr std::size_t kHeaderBytes = 4096;
constexpr std::uint64_t kAlignment = 64;
constexpr std::size_t kMostSegments = std::size_t{1} << 16;
constexpr std::uint64_t kMostSide = std::uint64_t{1} << 31;
// Indices of words in the header.
constexpr std::size_t kHeaderHash = 6, kEnd = 7;
// Indices of words in a record.
enum Field : std::size_t { State, Offset, Sides, Form, Identity, Pixels, DataHash, RecordHash };
// Offset of bytes that are locked but never written: one for the header, then one per sample.
constexpr std::int64_t kLocks = std::int64_t{1} << 60;

constexpr std::string_view kDiskRemedy = "another --cache-dir, or train.cache=memory";
constexpr std::string_view kMemoryRemedy = "train.cache=disk, or a smaller train.cache_mb";

[[noreturn]] void refuse(const fs::path& path, std::string_view expected, int code,
                         std::string_view remedy = kDiskRemedy) {
  throw DataError(error_text("data.cache", path.string(), expected, io::system_message(code), remedy));
}

/// Locks or unlocks one byte, and waits for the lock. Open-file locks belong to the descriptor, so threads of one
/// process share them.
void lock_byte(int descriptor, std::int64_t byte, short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = kLocks + byte;
  lock.l_len = 1;
  while (::fcntl(descriptor, F_OFD_SETLKW, &lock) != 0 && errno == EINTR) {
  }
}

class ByteLock {
 public:
  ByteLock(int descriptor, std::int64_t byte) : descriptor_(descriptor), byte_(byte) {
    lock_byte(descriptor_, byte_, F_WRLCK);
  }
  ByteLock(const ByteLock&) = delete;
  ByteLock& operator=(const ByteLock&) = delete;
  ~ByteLock() { lock_byte(descriptor_, byte_, F_UNLCK); }

 private:
  const int descriptor_;
  const std::int64_t byte_;
};

bool is_still_named(int descriptor, const fs::path& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(descriptor, &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

std::uint64_t hash_of(std::span<const std::uint64_t> words) { return io::fast_hash(std::as_bytes(words)); }

std::size_t index_bytes(std::int64_t samples) {
  const std::size_t bytes = kHeaderBytes + static_cast<std::size_t>(samples) * 64;
  return (bytes + kHeaderBytes - 1) / kHeaderBytes * kHeaderBytes;
}

std::array<std::uint64_t, 8> header_of(const CacheFileForm& form) {
  constexpr std::size_t kDigits = 16;
  RG_ASSERT(form.key.size() == 2 * kDigits);
  std::array<std::uint64_t, 8> header{kMagic, kVersion, static_cast<std::uint64_t>(form.samples), form.segment_bytes};
  for (std::size_t i = 0; i < 2; ++i) {
    const char* const begin = form.key.data() + i * kDigits;
    std::from_chars(begin, begin + kDigits, header[4 + i], 16);
  }
  header[kHeaderHash] = hash_of(std::span(header).first(kHeaderHash));
  header[kEnd] = index_bytes(form.samples);
  return header;
}

std::uint64_t record_hash(std::uint32_t sample, const std::array<std::uint64_t, 8>& record) {
  std::array<std::uint64_t, 8> hashed = record;
  hashed[State] = sample;
  return hash_of(std::span(hashed).first(RecordHash));
}

std::optional<ImageLayout> layout_of(std::uint64_t sides, std::uint64_t form) {
  const ImageLayout layout{.width_px = static_cast<std::int64_t>(sides >> 32U),
                           .height_px = static_cast<std::int64_t>(sides & 0xFFFF'FFFFU),
                           .channels = static_cast<int>(form & 0xFFU),
                           .bits = static_cast<int>((form >> 8U) & 0xFFU),
                           .max_value = static_cast<std::uint32_t>(form >> 32U)};
  const bool is_one = layout.width_px > 0 && layout.height_px > 0 && sides >> 32U < kMostSide &&
                      (sides & 0xFFFF'FFFFU) < kMostSide && (layout.channels == 1 || layout.channels == 3) &&
                      (layout.bits == 8 || layout.bits == 16);
  return is_one ? std::optional(layout) : std::nullopt;
}

}  // namespace

CacheFile::Claim::Claim(const CacheFile& file, std::uint32_t sample)
    : descriptor_(file.file_.get()), byte_(1 + std::int64_t{sample}) {
  lock_byte(descriptor_, byte_, F_WRLCK);
}

CacheFile::Claim::~Claim() { lock_byte(descriptor_, byte_, F_UNLCK); }

CacheFile::CacheFile(const fs::path& path, const CacheFileForm& form)
    : path_(path),
      is_on_disk_(true),
      samples_(form.samples),
      segment_bytes_(form.segment_bytes),
      most_bytes_(form.most_bytes),
      segments_(kMostSegments),
      sound_at_(static_cast<std::size_t>(form.samples)) {
  open(path, form);
  map(form);
}

CacheFile::CacheFile(io::Descriptor file, std::string_view name, const CacheFileForm& form)
    : path_(name),
      is_on_disk_(false),
      file_(std::move(file)),
      samples_(form.samples),
      segment_bytes_(form.segment_bytes),
      most_bytes_(form.most_bytes),
      segments_(kMostSegments),
      sound_at_(static_cast<std::size_t>(form.samples)) {
  {
    const ByteLock lock(file_.get(), 0);
    const bool is_new = size_bytes() == 0;
    if (is_new) initialise(form);
    if (!is_of(form)) {
      throw DataError(error_text("data.cache", name, "a cache of the same images",
                                 is_new ? io::system_message(errno) : "a cache of other images"));
    }
  }
  map(form);
}

void CacheFile::map(const CacheFileForm& form) {
  RG_ASSERT(segment_bytes_ > 0 && segment_bytes_ % 65536 == 0);
  const std::size_t bytes = index_bytes(form.samples);
  void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (address == MAP_FAILED) {
    refuse(path_, "a file that can be mapped into memory", errno, is_on_disk_ ? kDiskRemedy : kMemoryRemedy);
  }
  index_ = {static_cast<std::byte*>(address), bytes};
  io::guard_map(index_, -1);
  // After a power failure the stored end may be outdated while pixels beyond it reached the disk.
  Word& end = reinterpret_cast<Word*>(index_.data())[kEnd];
  expect_bytes(size_bytes());
  const std::uint64_t size = (expected_bytes_.load() + kAlignment - 1) / kAlignment * kAlignment;
  for (std::uint64_t now = end.load(); now < size && !end.compare_exchange_weak(now, size);) {
  }
}

CacheFile::~CacheFile() {
  for (const auto& segment : segments_) {
    const std::byte* const begin = segment.load();
    if (begin == nullptr) continue;
    io::release_map({begin, segment_bytes_});
    ::munmap(const_cast<std::byte*>(begin), segment_bytes_);
  }
  io::release_map(index_);
  ::munmap(index_.data(), index_.size());
}

// A file with other parameters is unlinked and not changed, because other processes may have mapped it.
void CacheFile::open(const fs::path& path, const CacheFileForm& form) {
  while (true) {
    file_ = io::Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
    if (file_.get() < 0) refuse(path, "a file that can be created", errno);
    const ByteLock lock(file_.get(), 0);
    if (is_still_named(file_.get(), path)) {
      if (is_of(form)) return;
      if (size_bytes() == 0) {
        initialise(form);
        if (is_of(form)) return;
        const int code = errno;
        ::unlink(path.c_str());
        refuse(path, fmt::format("free space for {} bytes", index_bytes(form.samples)), code);
      }
      if (::unlink(path.c_str()) != 0) refuse(path, "a cache file, or one that can be removed", errno);
    }
  }
}

bool CacheFile::is_of(const CacheFileForm& form) const {
  std::array<std::uint64_t, 8> header{};
  if (size_bytes() < index_bytes(form.samples)) return false;
  if (::pread(file_.get(), header.data(), sizeof(header), 0) != static_cast<ssize_t>(sizeof(header))) return false;
  const auto wanted = header_of(form);
  return std::equal(wanted.begin(), wanted.begin() + kEnd, header.begin()) && header[kEnd] >= wanted[kEnd];
}

// Allocates the file's blocks now. Otherwise writing to a mapped page on a full disk would kill the process. The header
// is written last.
void CacheFile::initialise(const CacheFileForm& form) const {
  const int code = ::posix_fallocate(file_.get(), 0, static_cast<off_t>(index_bytes(form.samples)));
  if (code == 0) {
    const auto header = header_of(form);
    if (::pwrite(file_.get(), header.data(), sizeof(header), 0) == static_cast<ssize_t>(sizeof(header))) return;
  }
  if (code != 0) errno = code;
}

std::span<CacheFile::Word> CacheFile::record(std::uint32_t sample) const {
  RG_ASSERT(std::int64_t{sample} < samples_);
  auto* words = reinterpret_cast<Word*>(index_.data() + kHeaderBytes);
  return {words + std::size_t{sample} * kWords, kWords};
}

std::uint64_t CacheFile::size_bytes() const {
  struct stat status {};
  return ::fstat(file_.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

const std::byte* CacheFile::mapped(std::uint64_t offset) const {
  const std::uint64_t number = offset / segment_bytes_;
  if (number >= segments_.size()) return nullptr;
  auto& segment = segments_[number];
  const std::byte* begin = segment.load(std::memory_order_acquire);
  if (begin == nullptr) {
    const MutexLock lock(mapping_);
    begin = segment.load();
    if (begin == nullptr) {
      void* address = ::mmap(nullptr, segment_bytes_, PROT_READ, MAP_SHARED, file_.get(),
                             static_cast<off_t>(number * segment_bytes_));
      if (address == MAP_FAILED) return nullptr;
      begin = static_cast<const std::byte*>(address);
      io::guard_map({begin, segment_bytes_}, -1);
      segment.store(begin, std::memory_order_release);
    }
  }
  return begin + offset % segment_bytes_;
}

void CacheFile::expect_bytes(std::uint64_t bytes) const {
  for (std::uint64_t now = expected_bytes_.load(); now < bytes && !expected_bytes_.compare_exchange_weak(now, bytes);) {
  }
}

// The size alone is not sufficient, because another process may have written beyond the new end since the truncation.
void CacheFile::require_intact() const {
  const std::uint64_t expected = expected_bytes_.load();
  const std::uint64_t size = size_bytes();
  bool is_cut = size < expected || io::was_cut_short(index_);
  for (std::size_t i = 0; i <= expected / segment_bytes_ && i < segments_.size() && !is_cut; ++i) {
    const std::byte* const begin = segments_[i].load(std::memory_order_acquire);
    is_cut = begin != nullptr && io::was_cut_short({begin, segment_bytes_});
  }
  if (!is_cut) return;
  throw DataError(error_text("data.cache", path_.string(), fmt::format("{} bytes", expected),
                             fmt::format("{} bytes, because the file was truncated while in use", size),
                             is_on_disk_ ? "removing this file, or train.cache=memory" : kMemoryRemedy));
}

std::optional<CacheEntry> CacheFile::find(std::uint32_t sample) const {
  require_intact();
  const std::span<Word> words = record(sample);
  if (words[State].load(std::memory_order_acquire) != kReady) return std::nullopt;
  std::array<std::uint64_t, 8> record{};
  for (std::size_t i = 0; i < kWords; ++i) record[i] = words[i].load(std::memory_order_relaxed);
  if (record_hash(sample, record) != record[RecordHash]) return std::nullopt;
  const auto layout = layout_of(record[Sides], record[Form]);
  if (!layout) return std::nullopt;
  const std::uint64_t offset = record[Offset];
  const std::uint64_t bytes = layout->bytes();
  if (offset % kAlignment != 0 || bytes > segment_bytes_ || offset % segment_bytes_ + bytes > segment_bytes_) {
    return std::nullopt;
  }
  const bool is_sound = sound_at_[sample].load(std::memory_order_acquire) == offset;
  if (!is_sound && (offset < index_.size() || offset + bytes > size_bytes())) return std::nullopt;
  if (!is_sound) expect_bytes(offset + bytes);
  const std::byte* const begin = mapped(offset);
  if (begin == nullptr) return std::nullopt;
  const std::span<const std::byte> pixels(begin, bytes);
  if (!is_sound) {
    if (io::fast_hash(pixels) != record[DataHash]) return std::nullopt;
    sound_at_[sample].store(offset, std::memory_order_release);
  }
  return CacheEntry{.layout = *layout, .identity = record[Identity], .pixel_hash = record[Pixels], .pixels = pixels};
}

std::optional<std::uint64_t> CacheFile::give_away(std::uint64_t bytes) {
  const std::uint64_t aligned = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (aligned > segment_bytes_) return std::nullopt;
  Word& end = reinterpret_cast<Word*>(index_.data())[kEnd];
  std::uint64_t now = end.load();
  while (true) {
    const bool fits = now % segment_bytes_ + aligned <= segment_bytes_;
    const std::uint64_t begin = fits ? now : (now / segment_bytes_ + 1) * segment_bytes_;
    if (begin / segment_bytes_ >= segments_.size()) return std::nullopt;
    if (begin + aligned - index_.size() > most_bytes_) return std::nullopt;
    if (end.compare_exchange_weak(now, begin + aligned)) return begin;
  }
}

bool CacheFile::reserve(std::uint32_t sample) {
  std::uint64_t nothing = 0;
  return record(sample)[State].compare_exchange_strong(nothing, kReserved);
}

Status CacheFile::put(std::uint32_t sample, const CacheEntry& entry) {
  const auto failed = [&](std::string_view expected, std::string_view got) {
    return failure("data.cache", fmt::format("image of {} bytes", entry.pixels.size()), expected, got);
  };
  require_intact();
  const auto offset = give_away(entry.pixels.size());
  if (!offset) return failed(fmt::format("at most {} bytes", std::min(segment_bytes_, most_bytes_)), "more");
  std::size_t done = 0;
  while (done < entry.pixels.size()) {
    const auto rest = entry.pixels.subspan(done);
    const ssize_t put = ::pwrite(file_.get(), rest.data(), rest.size(), static_cast<off_t>(*offset + done));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return failed("free space on the disk", io::system_message(errno));
    done += static_cast<std::size_t>(put);
  }
  expect_bytes(*offset + entry.pixels.size());
  const ImageLayout& layout = entry.layout;
  std::array<std::uint64_t, 8> values{};
  values[Offset] = *offset;
  values[Sides] = static_cast<std::uint64_t>(layout.width_px) << 32U | static_cast<std::uint64_t>(layout.height_px);
  values[Form] = static_cast<std::uint64_t>(layout.channels) | static_cast<std::uint64_t>(layout.bits) << 8U |
                 std::uint64_t{layout.max_value} << 32U;
  values[Identity] = entry.identity;
  values[Pixels] = entry.pixel_hash;
  values[DataHash] = io::fast_hash(entry.pixels);
  values[RecordHash] = record_hash(sample, values);
  const std::span<Word> words = record(sample);
  // A reserved record stays reserved, so that no other process reserves it meanwhile.
  std::uint64_t stored = kReady;
  words[State].compare_exchange_strong(stored, kReserved);
  for (std::size_t i = 1; i < kWords; ++i) words[i].store(values[i], std::memory_order_relaxed);
  words[State].store(kReady, std::memory_order_release);
  return Done{};
}

std::int64_t CacheFile::kept() const {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < samples_; ++i) {
    count += record(static_cast<std::uint32_t>(i))[State].load(std::memory_order_relaxed) == kReady ? 1 : 0;
  }
  return count;
}

std::uint64_t CacheFile::free_bytes() const {
  struct statvfs status {};
  if (::fstatvfs(file_.get(), &status) != 0) return 0;
  return std::uint64_t{status.f_bavail} * status.f_frsize;
}

}  // namespace roentgen::data
