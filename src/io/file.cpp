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
#include <utility>

#include "core/error.h"

namespace roentgen::io {
namespace {
namespace fs = std::filesystem;

// One system call never moves more than this, so that no kernel limit (0x7ffff000 bytes on Linux) is met.
constexpr std::size_t kChunkBytes = std::size_t{1} << 30;

std::string cause(int code) { return std::generic_category().message(code); }

/// What helps against a file that cannot be opened or written, by the system's reason.
std::string_view remedy_for(int code) {
  if (code == ENOSPC || code == EDQUOT || code == EFBIG) return "freeing space there, or another folder";
  if (code == ENOENT) return "checking the path: a file or folder in it is missing";
  if (code == ENOTDIR) return "checking the path: what stands for a folder in it is a file";
  if (code == EACCES || code == EPERM || code == EROFS) return "another path, or other permissions there";
  return "another path or disk";
}

Failure unreadable(const fs::path& path, int code) {
  return failure("io.file", path.string(), "a readable file", cause(code), remedy_for(code));
}

/// Owner of a file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  [[nodiscard]] int get() const { return value_; }
  [[nodiscard]] int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

/// Size of an open regular file, or why it cannot be read.
Result<std::uint64_t> regular_size(int descriptor, const fs::path& path) {
  struct stat info {};
  if (::fstat(descriptor, &info) != 0) return unreadable(path, errno);
  if (S_ISDIR(info.st_mode)) {
    return failure("io.file", path.string(), "a file", "a folder", "the path of a file in it");
  }
  if (!S_ISREG(info.st_mode)) {
    return failure("io.file", path.string(), "a regular file", "a device, pipe or socket",
                   "writing it to a file first");
  }
  return static_cast<std::uint64_t>(info.st_size);
}

// O_NONBLOCK: opening a pipe nobody writes to must not hang; regular files ignore it.
int open_to_read(const fs::path& path) { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); }

template <typename Buffer>
Result<Buffer> read_whole(const fs::path& path, std::uint64_t limit_bytes) {
  const Descriptor file(open_to_read(path));
  if (file.get() < 0) return unreadable(path, errno);
  const Result<std::uint64_t> size = regular_size(file.get(), path);
  if (!size) return size.why();
  if (size.value() > limit_bytes) {
    return failure("io.file", path.string(), "at most " + std::to_string(limit_bytes) + " bytes",
                   std::to_string(size.value()) + " bytes", "checking that it is the file that was meant");
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
  throw DataError(error_text("io.file", path.string(), expected, cause(code), remedy_for(code)));
}

/// Opens and locks the temporary, so that two writers of one path never share it. A temporary that a killed process
/// left behind is taken over, so such leftovers never pile up.
int open_temporary(const fs::path& path, const fs::path& temporary) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
    if (file.get() < 0) write_failed(path, "a place to write", errno);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) {
        throw DataError(error_text("io.file", path.string(), "one writer", "a second one at the same time",
                                   "another path, or again when the other has ended"));
      }
      // Some network file systems have no locks: go on without.
    }
    struct stat opened {};
    struct stat named {};
    // Until the lock was ours, another writer may have renamed this very file to its final name: then start over.
    if (::fstat(file.get(), &opened) != 0) write_failed(path, "a place to write", errno);
    if (::stat(temporary.c_str(), &named) != 0 || named.st_ino != opened.st_ino || named.st_dev != opened.st_dev) {
      continue;
    }
    if (!S_ISREG(opened.st_mode)) {
      throw DataError(error_text("io.file", temporary.string(), "a regular file or nothing", "something else",
                                 "removing it, or another path"));
    }
    if (::ftruncate(file.get(), 0) != 0) write_failed(path, "a place to write", errno);
    return file.release();
  }
  throw DataError(error_text("io.file", path.string(), "one writer", "several in a race", "another path"));
}

void sync_folder(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Not every file system can sync a folder (EINVAL), and a folder may be writable yet not readable.
  if (descriptor.get() < 0) return;
  if (::fsync(descriptor.get()) != 0 && errno != EINVAL && errno != ENOTSUP) {
    write_failed(path, "its folder to reach the disk", errno);
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
  const Descriptor file(open_to_read(path));
  if (file.get() < 0) return unreadable(path, errno);
  const Result<std::uint64_t> size = regular_size(file.get(), path);
  if (!size) return size.why();
  MappedFile mapped;
  if (size.value() == 0) return mapped;  // mmap refuses a length of 0
  const auto bytes = static_cast<std::size_t>(size.value());
  void* address = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) {
    return failure("io.file", path.string(), "a file that can be mapped", cause(errno), "a copy on a local disk");
  }
  mapped.bytes_ = std::span<const std::byte>(static_cast<const std::byte*>(address), bytes);
  return mapped;
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)), temporary_(path_) {
  temporary_ += ".tmp";
  std::error_code ignored;
  if (fs::is_directory(path_, ignored)) {
    throw DataError(error_text("io.file", path_.string(), "a file to write", "a folder", "the name of a file in it"));
  }
  descriptor_ = open_temporary(path_, temporary_);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::unlink(temporary_.c_str());  // before the lock goes with the descriptor
  ::close(descriptor_);
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  RG_ASSERT(descriptor_ >= 0);
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kChunkBytes));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) write_failed(path_, "room for " + std::to_string(bytes.size()) + " more bytes", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
}

void AtomicFile::write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }

void AtomicFile::commit() {
  RG_ASSERT(descriptor_ >= 0);
  if (::fsync(descriptor_) != 0) write_failed(path_, "its bytes to reach the disk", errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) write_failed(path_, "a name that can be taken", errno);
  const int code = ::close(std::exchange(descriptor_, -1)) == 0 ? 0 : errno;
  if (code != 0 && code != EINTR) write_failed(path_, "its bytes to reach the disk", code);
  sync_folder(path_);
}

void write_file_atomically(const fs::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace roentgen::io
