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
/// Reads a file as text; otherwise as read_file.
Result<std::string> read_text(const std::filesystem::path& path, std::uint64_t limit_bytes = 1ULL << 32);

/// Read-only memory map of a whole file. Move-only; thread-safe to read. A file that an AtomicFile replaces stays
/// readable through an older map. Missing pages of a file that was truncated in place read as zeros (map_guard.h).
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

/// Writes to a new file ".NAME.roentgen-PID-N.tmp" beside `path`; commit() fsyncs, renames over `path` and fsyncs the
/// folder. Destroyed without commit(), it removes the temporary and leaves `path` unchanged. With two writers of one
/// path the last commit wins, whole. A lock (flock(2)) on the temporary distinguishes it from a leftover of a killed
/// process. One thread.
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

/// Removes temporaries that killed processes left in `folder`, not below it. Keeps files being written and files with
/// other names. Never fails: what cannot be removed stays.
void remove_leftover_temporaries(const std::filesystem::path& folder);

/// Writes a file with AtomicFile; first removes leftover temporaries of `path`.
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

}  // namespace roentgen::io
