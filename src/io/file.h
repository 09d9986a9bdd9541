// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Whole files: read, map, and write so that nothing half-written is ever seen under the final name.
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

/// Reads a whole regular file. Refuses directories, pipes, absent files and files over `limit_bytes`, before
/// allocating.
Result<std::vector<std::byte>> read_file(const std::filesystem::path& path, std::uint64_t limit_bytes = 1ULL << 32);
/// As read_file, as text.
Result<std::string> read_text(const std::filesystem::path& path, std::uint64_t limit_bytes = 1ULL << 32);

/// Read-only memory map of a whole file. Move-only; thread-safe to read. A file that is replaced by an AtomicFile stays
/// readable through an older map; one that is cut short in place does not (SIGBUS).
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

/// Writes to `path` + ".tmp"; commit() fsyncs, renames over `path` and fsyncs the folder. Destroyed without commit():
/// the temporary is removed and `path` is as it was. A temporary that a killed process left is taken over; a second
/// writer of the same path at the same time is refused (by a lock, where the file system has locks). One thread.
class AtomicFile {
 public:
  /// Creates the temporary; DataError (naming path and cause) when that fails.
  explicit AtomicFile(std::filesystem::path path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();
  /// Appends; DataError on a full disk.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

/// AtomicFile in one call.
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

}  // namespace roentgen::io
