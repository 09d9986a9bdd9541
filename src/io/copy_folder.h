// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Copies a folder of a network file system to a disk of this node. One process copies while others wait; a killed copy
// is resumed.
//
// Work in progress lies in .NAME.copy-local next to the copy:
//   lock      flock(2), with the id of the process that holds it
//   files     the files copied so far
//   journal   a line for each written chunk: hash, number, size and time of the file, path
//   manifest  a line a file; written at the end
// `files` is renamed to the copy when all of it is on the disk, was read again and has the expected hashes. So the
// final name never stands for a partial copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>

namespace roentgen::io {

/// Source, destination and limits of a copy.
struct CopyOptions {
  std::filesystem::path source;
  /// Parent of the copy, <folder>/<name of source>. Created where it is absent.
  std::filesystem::path folder;
  /// Files copied at a time; at least 1. Each holds a chunk in memory.
  int workers = 4;
  std::size_t chunk_bytes = std::size_t{16} << 20U;
  /// Called after each chunk with the bytes copied and in all, never by two threads at once.
  std::function<void(std::uint64_t done, std::uint64_t total)> on_progress{};
  /// Called before waiting for another process, with its number; 0: unknown.
  std::function<void(std::int64_t process)> on_wait{};
};

/// Result of a copy.
struct CopiedFolder {
  /// Path of the copy, to be used instead of the source.
  std::filesystem::path folder;
  std::int64_t files = 0;
  std::uint64_t bytes = 0;
  /// Bytes that this call copied; the others existed already.
  std::uint64_t copied_bytes = 0;
};

/// Copies all regular files of `source` and the folders below it, with times and permissions. Links are followed.
/// Returns at once when the copy is complete already. Copied files stay for the next call when a call fails.
/// Throws ConfigError when source or folder lies in the other, or there is no source. Throws DataError for a copy of
/// another state or folder under that name. Throws DataError for too little room on the disk, which is checked before
/// copying. Throws DataError for a file that cannot be read, changes meanwhile, is no file, or reads back differently.
[[nodiscard]] CopiedFolder copy_folder(const CopyOptions& options);

}  // namespace roentgen::io
