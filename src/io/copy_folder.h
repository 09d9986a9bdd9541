// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Copies a folder from a network file system to a local disk of this node. One process copies while others wait; an
// interrupted copy is resumed.
//
// An incomplete copy lies in .NAME.copy-local next to the final copy:
//   lock      flock(2), with the id of the process that holds it
//   files     files copied so far
//   journal   one line per written chunk: hash, number, size and time of the file, path
//   manifest  one line per file; written at the end
// `files` is renamed to the final name after all of it was written to disk, read again, and had the expected hashes. So
// the final name never refers to a partial copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>

namespace roentgen::io {

/// Source, destination and limits of a copy.
struct CopyOptions {
  std::filesystem::path source;
  /// Parent folder of the copy <folder>/<name of source>. Created if absent.
  std::filesystem::path folder;
  /// Number of files copied at the same time; at least 1. Each file being copied needs memory for one chunk.
  int workers = 4;
  std::size_t chunk_bytes = std::size_t{16} << 20U;
  /// Progress callback, called after each chunk with the copied and the total bytes; by one thread at a time.
  std::function<void(std::uint64_t done, std::uint64_t total)> on_progress{};
  /// Callback before waiting for another process, with its process id; 0: unknown.
  std::function<void(std::int64_t process)> on_wait{};
};

/// Result of a copy.
struct CopiedFolder {
  /// Path of the copy. Use it instead of the source.
  std::filesystem::path folder;
  std::int64_t files = 0;
  std::uint64_t bytes = 0;
  /// Bytes that this call copied, without files that an earlier call had copied.
  std::uint64_t copied_bytes = 0;
};

/// Copies all regular files of `source` and its subfolders, with times and permissions. Links are followed. Returns
/// immediately if the copy is already complete. After a failure, copied files are kept for the next call.
/// Throws ConfigError if the source does not exist, or if source or folder lies inside the other. Throws DataError if
/// the name is taken by a copy of another folder or of an earlier state of the source. Throws DataError if the disk has
/// too little space, which is checked first. Throws DataError if a file cannot be read, changes meanwhile, is no
/// regular file, or reads back differently.
[[nodiscard]] CopiedFolder copy_folder(const CopyOptions& options);

}  // namespace roentgen::io
