// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// A folder of a network file system copied to a disk of this node: by one process, while others wait; killed and begun
// again, it goes on.
//
// Beside the copy lies .NAME.copy-local: `lock` (flock(2), with the number of the process that holds it), `files` (what
// is there so far), `journal` (a line for each chunk that was written: hash, number, size and time of the file, path)
// and, at the end, `manifest` (a line a file). `files` takes the copy's name when all of it is on the disk, has been
// read again and has the hashes it should; so the name never stands for half a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>

namespace roentgen::io {

/// What to copy.
struct CopyOptions {
  std::filesystem::path source;
  /// Where the copy goes: <folder>/<name of source>. Made where it is absent.
  std::filesystem::path folder;
  /// Files copied at a time; at least 1. Each holds a chunk in memory.
  int workers = 4;
  std::size_t chunk_bytes = std::size_t{16} << 20U;
  /// Called after each chunk with the bytes that are there and in all, never by two threads at once.
  std::function<void(std::uint64_t done, std::uint64_t total)> on_progress{};
  /// Called before waiting for another process, with its number; 0: unknown.
  std::function<void(std::int64_t process)> on_wait{};
};

/// What was done.
struct CopiedFolder {
  /// To be used instead of the source.
  std::filesystem::path folder;
  std::int64_t files = 0;
  std::uint64_t bytes = 0;
  /// Of them, those that this call copied; the others were there.
  std::uint64_t copied_bytes = 0;
};

/// Copies all regular files of `source` and the folders below it, links followed, with their times and rights; returns
/// at once where that was done before. ConfigError: source or folder lies in the other, no source. DataError: a copy of
/// another state or folder under that name, not enough room on the disk (found out before anything is copied), a file
/// that cannot be read, changes meanwhile, or is no file, or bytes that come back otherwise than they were written;
/// what is copied stays, for the next call.
[[nodiscard]] CopiedFolder copy_folder(const CopyOptions& options);

}  // namespace roentgen::io
