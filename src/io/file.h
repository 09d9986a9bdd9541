// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads, maps and writes whole files. A partially written file never appears under the final name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace roentgen::io {

/// Reads a whole regular file. Fails for directories, pipes, absent files and files over `limit_bytes`, before it
/// allocates memory.
Result<std::vector<std::byte>> read_file(const std::filesystem::path& path, std::uint64_t limit_bytes = 1ULL << 32);
/// Reads a file as text. Fails as read_file() does.
Result<std::string> read_text(const std::filesystem::path& path, std::uint64_t limit_bytes = 1ULL << 32);

/// Read-only memory map of a whole file. Move-only; thread-safe to read. If an AtomicFile replaces the file, the map
/// keeps the old content. If the file is truncated in place, missing pages read as zeros (map_guard.h).
class MappedFile {
 public:
  static Result<MappedFile> open(const std::filesystem::path& path);
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

/// Writes to a temporary file ".NAME.roentgen-PID-N.tmp" in the folder of `path`. commit() syncs it, renames it to
/// `path` and syncs the folder. Without commit(), the destructor removes the temporary file and leaves `path`
/// unchanged. If two writers write the same path, the last commit wins. A lock (flock(2)) distinguishes the temporary
/// file from the leftover of a killed process. Not thread-safe.
class AtomicFile {
 public:
  /// Creates the temporary file. Throws DataError that names path and cause if this fails.
  explicit AtomicFile(std::filesystem::path path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();
  /// Appends bytes. Throws DataError if the disk is full.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  /// Replaces the bytes at the beginning of the file, which must be as long already. write() still appends.
  void replace_head(std::string_view head);
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

/// Removes temporary files that killed processes left directly in `folder`. Keeps files that are being written and
/// files with other names. Never fails; files that cannot be removed stay.
void remove_leftover_temporaries(const std::filesystem::path& folder);

/// Writes a file with AtomicFile, after removing leftover temporary files of `path`.
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

}  // namespace roentgen::io
