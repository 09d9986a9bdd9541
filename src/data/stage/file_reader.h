// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads whole files one after another into reused memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace roentgen::io {
class Descriptor;
}

namespace roentgen::data {

/// Reads files. Thread-compatible: each worker has its own. Throws DataError if the process may open no more files,
/// because no file is at fault.
class FileReader {
 public:
  /// Drop: asks the system to remove each file from the page cache before it is read, for benchmarks.
  enum class PageCache : std::uint8_t { Use, Drop };

  explicit FileReader(PageCache page_cache = PageCache::Use);  ///< opens no file yet
  ~FileReader();
  FileReader(FileReader&&) noexcept;             ///< takes over its memory and open files
  FileReader& operator=(FileReader&&) noexcept;  ///< takes over its memory and open files

  /// Reads a regular file of at most `limit_bytes`; the result is valid until the next call. `what` names the file in
  /// messages. Fails if it is absent, a folder, empty, too large, or shorter than its size, or if a system call fails.
  [[nodiscard]] Result<std::span<const std::byte>> read(const std::filesystem::path& path, std::string_view what,
                                                        std::uint64_t limit_bytes = std::uint64_t{1} << 30);
  /// Reads `length` bytes of a file from offset `begin`, as read() does. Keeps up to kOpenFiles files open. Fails as
  /// read() does, or if the file ends earlier.
  [[nodiscard]] Result<std::span<const std::byte>> read_part(const std::filesystem::path& path, std::string_view what,
                                                             std::uint64_t begin, std::uint64_t length);
  static constexpr std::size_t kOpenFiles = 4;  ///< number of files that stay open
  /// Largest part of a file that can be read, in bytes.
  static constexpr std::uint64_t kLimit_bytes = std::uint64_t{1} << 30;
  /// True if the last call opened a file.
  [[nodiscard]] bool has_opened() const { return has_opened_; }

 private:
  struct OpenFile;

  io::Descriptor open_file(const std::filesystem::path& path);
  std::span<std::byte> memory_of(std::uint64_t bytes);
  [[nodiscard]] Result<std::span<const std::byte>> read_from(int file, std::string_view what, std::uint64_t begin,
                                                             std::uint64_t length);

  std::unique_ptr<std::byte[]> memory_;
  std::size_t capacity_ = 0;
  /// Open files; the one used last is at the end.
  std::vector<OpenFile> open_;
  bool has_opened_ = false;
  PageCache page_cache_ = PageCache::Use;
};

}  // namespace roentgen::data
