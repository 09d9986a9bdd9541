// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/file_reader.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/error.h"
#include "io/descriptor.h"

namespace roentgen::data {
namespace {

// Opens without blocking, so that a named pipe does not hang a worker before it is refused.
io::Descriptor opened(const std::filesystem::path& path) {
  return io::Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

Failure refused(std::string_view what, std::string_view expected, const std::string& got) {
  return failure("data.read", what, expected, got, "checking this file");
}

}  // namespace

struct FileReader::OpenFile {
  std::filesystem::path path;
  io::Descriptor descriptor;
};

FileReader::FileReader(PageCache page_cache) : page_cache_(page_cache) {}
FileReader::~FileReader() = default;
FileReader::FileReader(FileReader&&) noexcept = default;
FileReader& FileReader::operator=(FileReader&&) noexcept = default;

std::span<std::byte> FileReader::memory_of(std::uint64_t bytes) {
  if (bytes > capacity_) {
    capacity_ = static_cast<std::size_t>(std::max<std::uint64_t>(bytes, 2 * capacity_));
    memory_.reset();
    memory_ = std::make_unique_for_overwrite<std::byte[]>(capacity_);
  }
  return {memory_.get(), static_cast<std::size_t>(bytes)};
}

Result<std::span<const std::byte>> FileReader::read_from(int file, std::string_view what, std::uint64_t begin,
                                                         std::uint64_t length) {
  const std::span<std::byte> memory = memory_of(length);
  if (page_cache_ == PageCache::Drop) {
    ::posix_fadvise(file, static_cast<off_t>(begin), static_cast<off_t>(length), POSIX_FADV_DONTNEED);
  }
  std::size_t done = 0;
  while (done < memory.size()) {
    const ssize_t count = ::pread(file, memory.data() + done, memory.size() - done, static_cast<off_t>(begin + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return refused(what, "a readable file", io::system_message(errno));
    if (count == 0) return refused(what, fmt::format("{} bytes", length), fmt::format("{}", done));
    done += static_cast<std::size_t>(count);
  }
  return std::span<const std::byte>(memory);
}

io::Descriptor FileReader::open_file(const std::filesystem::path& path) {
  io::Descriptor file = opened(path);
  const auto has_none_left = [&file] { return file.get() < 0 && (errno == EMFILE || errno == ENFILE); };
  if (!has_none_left()) return file;
  open_.clear();
  file = opened(path);
  if (!has_none_left()) return file;
  throw DataError(error_text("data.read", "open files", "to open one more file", io::system_message(errno),
                             "running ulimit -n 4096 first"));
}

Result<std::span<const std::byte>> FileReader::read(const std::filesystem::path& path, std::string_view what,
                                                    std::uint64_t limit_bytes) {
  has_opened_ = true;
  const io::Descriptor file = open_file(path);
  if (file.get() < 0) return refused(what, "a readable file", io::system_message(errno));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return refused(what, "a readable file", io::system_message(errno));
  if (!S_ISREG(status.st_mode)) {
    return refused(what, "a file", S_ISDIR(status.st_mode) ? "a folder" : "a special file");
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size == 0) return refused(what, "an image", "an empty file");
  if (size > limit_bytes) return refused(what, fmt::format("at most {} bytes", limit_bytes), fmt::format("{}", size));
  return read_from(file.get(), what, 0, size);
}

Result<std::span<const std::byte>> FileReader::read_part(const std::filesystem::path& path, std::string_view what,
                                                         std::uint64_t begin, std::uint64_t length) {
  if (length > kLimit_bytes) {
    return refused(what, fmt::format("at most {} bytes", kLimit_bytes), fmt::format("{}", length));
  }
  const auto found = std::ranges::find(open_, path, &OpenFile::path);
  has_opened_ = found == open_.end();
  if (!has_opened_) {
    std::rotate(found, found + 1, open_.end());
  } else {
    io::Descriptor file = open_file(path);
    if (file.get() < 0) return refused(what, "a readable file", io::system_message(errno));
    if (open_.size() == kOpenFiles) open_.erase(open_.begin());
    open_.push_back({.path = path, .descriptor = std::move(file)});
  }
  return read_from(open_.back().descriptor.get(), what, begin, length);
}

}  // namespace roentgen::data
