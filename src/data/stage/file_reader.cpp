// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/file_reader.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace roentgen::data {
namespace {

std::string system_message(int error) { return std::generic_category().message(error); }

/// Owns a descriptor. Non-blocking, so that a named pipe does not hang a worker before it is refused.
class Descriptor {
 public:
  explicit Descriptor(const std::filesystem::path& path)
      : value_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  [[nodiscard]] int value() const { return value_; }

 private:
  int value_;
};

}  // namespace

Result<std::span<const std::byte>> FileReader::read(const std::filesystem::path& path, std::string_view what,
                                                    std::uint64_t limit_bytes) {
  const auto refuse = [&](std::string_view expected, const std::string& got) {
    return failure("data.read", what, expected, got, "checking that file");
  };
  const Descriptor file(path);
  if (file.value() < 0) return refuse("a readable file", system_message(errno));
  struct stat status {};
  if (::fstat(file.value(), &status) != 0) return refuse("a readable file", system_message(errno));
  if (!S_ISREG(status.st_mode)) return refuse("a file", S_ISDIR(status.st_mode) ? "a folder" : "a special file");
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size == 0) return refuse("an image", "an empty file");
  if (size > limit_bytes) return refuse(fmt::format("at most {} bytes", limit_bytes), fmt::format("{}", size));
  if (size > capacity_) {
    capacity_ = static_cast<std::size_t>(std::max<std::uint64_t>(size, 2 * capacity_));
    memory_.reset();
    memory_ = std::make_unique_for_overwrite<std::byte[]>(capacity_);
  }
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count =
        ::pread(file.value(), memory_.get() + done, static_cast<std::size_t>(size) - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return refuse("a readable file", system_message(errno));
    if (count == 0) return refuse(fmt::format("{} bytes", size), fmt::format("{}", done));
    done += static_cast<std::size_t>(count);
  }
  return std::span<const std::byte>(memory_.get(), static_cast<std::size_t>(size));
}

}  // namespace roentgen::data
