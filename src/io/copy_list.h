// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Lists that copy_folder() uses: files of the source, chunks copied so far, files of a finished copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace roentgen::io {

/// A file to copy.
struct CopyFile {
  /// Path relative to the source.
  std::string path;
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;
  friend bool operator==(const CopyFile&, const CopyFile&) = default;
};

/// Lists all regular files of a folder, sorted by path. Throws DataError for entries that are neither file nor folder,
/// and for folders that cannot be listed. Throws DataError for a folder that a link puts inside itself, and for names
/// with a line break.
[[nodiscard]] std::vector<CopyFile> list_to_copy(const std::filesystem::path& source);

/// Hashes of a file's chunks, in order.
using ChunkHashes = std::vector<std::string>;

/// Journal line of one chunk, with a line break.
[[nodiscard]] std::string journal_line(const CopyFile& file, std::size_t chunk, const std::string& hash);
/// Reads the journal. Returns, by path, the hashes of the leading chunks of each of `files`. Ignores incomplete lines,
/// lines for an earlier state of a file, and lines for other files.
[[nodiscard]] std::map<std::string, ChunkHashes> read_journal(const std::filesystem::path& journal,
                                                              const std::vector<CopyFile>& files);

/// Text of the manifest of a finished copy. Equal for equal sources.
[[nodiscard]] std::string manifest_text(const std::filesystem::path& source, const std::vector<CopyFile>& files,
                                        const std::map<std::string, ChunkHashes>& hashes);
/// True if a manifest describes this source with these files, sizes and times.
[[nodiscard]] bool is_manifest_of(const std::string& manifest, const std::filesystem::path& source,
                                  const std::vector<CopyFile>& files);

}  // namespace roentgen::io
