// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "core/short_error.h"
#include "io/descriptor.h"
#include "io/map_guard.h"

namespace roentgen::io {
namespace {
namespace fs = std::filesystem;

// Largest transfer per system call, below the kernel's limit (0x7ffff000 bytes on Linux).
constexpr std::size_t kChunkBytes = std::size_t{1} << 30;

/// Remedy for a file that cannot be opened or written, chosen by errno.
std::string_view remedy_for(int code) {
  if (code == ENOSPC || code == EDQUOT || code == EFBIG) return "freeing space there, or another folder";
  if (code == ENOENT) return "checking the path: a file or folder in it is missing";
  if (code == ENOTDIR) return "checking the path: one of its folders is a file";
  if (code == EACCES || code == EPERM || code == EROFS) return "another path, or changing the permissions there";
  return "another path or disk";
}

Failure unreadable(const fs::path& path, int code) {
  const auto problem = [code]() -> std::string {
    if (code == ENOENT) return "no such file";
    if (code == ENOTDIR) return "no such file: one of the folders in its path is a file";
    if (code == EACCES || code == EPERM) return "no permission to read it";
    return "cannot be read: " + system_message(code);
  };
  return Failure{short_error_text("io.file", path.string(), problem())};
}

/// Size of an open regular file, or the reason why it cannot be read.
Result<std::uint64_t> regular_size(int descriptor, const fs::path& path) {
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) return unreadable(path, errno);
  if (S_ISDIR(info.st_mode)) {
    return failure("io.file", path.string(), "a file", "a folder", "the path of a file in this folder");
  }
  if (!S_ISREG(info.st_mode)) {
    return failure("io.file", path.string(), "a regular file", "a device, pipe or socket",
                   "writing it to a file first");
  }
  return static_cast<std::uint64_t>(info.st_size);
}

// Opens with O_NONBLOCK, so that a pipe without a writer does not hang; regular files ignore the flag.
int open_to_read(const fs::path& path) { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }

template <typename Buffer>
Result<Buffer> read_whole(const fs::path& path, std::uint64_t limit_bytes) {
  const Descriptor file(open_to_read(path));
  if (file.get() < 0) return unreadable(path, errno);
  const Result<std::uint64_t> size = regular_size(file.get(), path);
  if (!size) return size.why();
  if (size.value() > limit_bytes) {
    return failure("io.file", path.string(), "at most " + std::to_string(limit_bytes) + " bytes",
                   std::to_string(size.value()) + " bytes", "checking that this is the intended file");
  }
  Buffer buffer;
  buffer.resize(static_cast<std::size_t>(size.value()));
  std::size_t done = 0;
  while (done < buffer.size()) {
    const ssize_t got = ::read(file.get(), buffer.data() + done, std::min(buffer.size() - done, kChunkBytes));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable(path, errno);
    if (got == 0) {
      return failure("io.file", path.string(), std::to_string(buffer.size()) + " bytes",
                     std::to_string(done) + " bytes: the file shrank while it was read",
                     "again when nothing writes to it");
    }
    done += static_cast<std::size_t>(got);
  }
  return buffer;
}

[[noreturn]] void write_failed(const fs::path& path, std::string_view expected, int code) {
  throw DataError(error_text("io.file", path.string(), expected, system_message(code), remedy_for(code)));
}

constexpr std::string_view kMark = ".roentgen-";
constexpr std::string_view kSuffix = ".tmp";
// Number of characters of the final name that the temporary name contains. File systems allow 255 bytes in total.
constexpr std::size_t kLongestName = 200;

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

/// Beginning ".NAME.roentgen-" of a temporary name; the process id and a number follow.
std::string temporary_stem(const fs::path& path) {
  return "." + path.filename().string().substr(0, kLongestName) + std::string(kMark);
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// True if `name` is the name of a temporary file that AtomicFile created. It must begin with `stem`; an empty `stem`
/// matches all.
bool is_temporary(std::string_view name, std::string_view stem) {
  const std::size_t mark = name.rfind(kMark);
  if (mark == std::string_view::npos || !name.starts_with('.') || !name.ends_with(kSuffix)) return false;
  if (!stem.empty() && name.substr(0, mark + kMark.size()) != stem) return false;
  const std::string_view numbers = name.substr(mark + kMark.size(), name.size() - mark - kMark.size() - kSuffix.size());
  const std::size_t dash = numbers.find('-');
  return dash != std::string_view::npos && is_digits(numbers.substr(0, dash)) && is_digits(numbers.substr(dash + 1));
}

bool is_regular_and_named(int descriptor, const fs::path& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(descriptor, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 && S_ISREG(opened.st_mode) &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

/// Opens and locks a new file. The lock distinguishes files being written from leftovers, which no process locks.
std::pair<int, fs::path> open_temporary(const fs::path& path) {
  const std::string stem = temporary_stem(path) + std::to_string(::getpid()) + "-";
  constexpr int kMost = 10'000;
  for (int i = 0; i < kMost; ++i) {
    fs::path temporary = folder_of(path) / (stem + std::to_string(i) + std::string(kSuffix));
    Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (file.get() < 0 && errno == EEXIST) continue;
    if (file.get() < 0) write_failed(path, "a file that can be created", errno);
    // Continues without a lock on network file systems that support no locks. If another process holds the lock, it has
    // mistaken the file for a leftover, and a new name is tried.
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) continue;
    if (is_regular_and_named(file.get(), temporary)) return {file.release(), std::move(temporary)};
  }
  throw DataError(error_text("io.file", path.string(), "a free name for a temporary file in the same folder",
                             std::to_string(kMost) + " existing temporary files",
                             "removing " + stem + "*" + std::string(kSuffix)));
}

void remove_leftovers(const fs::path& folder, std::string_view stem) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (!is_temporary(entry.path().filename().string(), stem)) continue;
    const Descriptor file(::open(entry.path().c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (file.get() < 0 || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) continue;
    if (is_regular_and_named(file.get(), entry.path())) ::unlink(entry.path().c_str());
  }
}

void sync_folder(const fs::path& path) {
  const Descriptor descriptor(::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems cannot sync a folder (EINVAL). A folder may also be writable but not readable.
  if (descriptor.get() < 0) return;
  if (::fsync(descriptor.get()) != 0 && errno != EINVAL && errno != ENOTSUP) {
    write_failed(path, "a folder that can be flushed to the disk", errno);
  }
}
}  // namespace

Result<std::vector<std::byte>> read_file(const fs::path& path, std::uint64_t limit_bytes) {
  return read_whole<std::vector<std::byte>>(path, limit_bytes);
}

Result<std::string> read_text(const fs::path& path, std::uint64_t limit_bytes) {
  return read_whole<std::string>(path, limit_bytes);
}

Result<MappedFile> MappedFile::open(const fs::path& path) {
  Descriptor file(open_to_read(path));
  if (file.get() < 0) return unreadable(path, errno);
  const Result<std::uint64_t> size = regular_size(file.get(), path);
  if (!size) return size.why();
  MappedFile mapped;
  if (size.value() == 0) return mapped;  // mmap rejects a length of 0
  const auto bytes = static_cast<std::size_t>(size.value());
  void* address = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) {
    return failure("io.file", path.string(), "a file that can be mapped into memory", system_message(errno),
                   "a copy on a local disk");
  }
  mapped.bytes_ = std::span<const std::byte>(static_cast<const std::byte*>(address), bytes);
  guard_map(mapped.bytes_, file.release());
  return mapped;
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  release_map(bytes_);
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)) {
  std::error_code ignored;
  if (fs::is_directory(path_, ignored)) {
    throw DataError(
        error_text("io.file", path_.string(), "a file to write", "a folder", "the name of a file in this folder"));
  }
  std::tie(descriptor_, temporary_) = open_temporary(path_);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::unlink(temporary_.c_str());  // before close() releases the lock
  ::close(descriptor_);
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  RG_ASSERT(descriptor_ >= 0);
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kChunkBytes));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) write_failed(path_, "free space for " + std::to_string(bytes.size()) + " more bytes", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

void AtomicFile::write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }

void AtomicFile::replace_head(std::string_view head) {
  RG_ASSERT(descriptor_ >= 0);
  for (std::size_t done = 0; done < head.size();) {
    const auto rest = head.substr(done);
    const ssize_t put = ::pwrite(descriptor_, rest.data(), rest.size(), static_cast<off_t>(done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) write_failed(path_, "a file whose beginning can be written", errno);
    done += static_cast<std::size_t>(put);
  }
}

void AtomicFile::commit() {
  RG_ASSERT(descriptor_ >= 0);
  if (::fsync(descriptor_) != 0) write_failed(path_, "a file that can be flushed to the disk", errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0)
    write_failed(path_, "a file that can be renamed to this name", errno);
  const int code = ::close(std::exchange(descriptor_, -1)) == 0 ? 0 : errno;
  if (code != 0 && code != EINTR) write_failed(path_, "a file that can be flushed to the disk", code);
  sync_folder(path_);
}

void remove_leftover_temporaries(const fs::path& folder) { remove_leftovers(folder, {}); }

void write_file_atomically(const fs::path& path, std::string_view text) {
  remove_leftovers(folder_of(path), temporary_stem(path));
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace roentgen::io
