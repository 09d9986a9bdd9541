// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// RecordIndex: cached headers of a record file. With it, a run on hundreds of thousands of records or slow storage
// starts without reading them again. Stored in the cache folder, never next to the data. For src/data/source only.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/source/dataset.h"
#include "data/source/record_labels.h"

namespace roentgen::data {

/// An image as its record describes it. Labels and the path of its file are stored separately.
struct IndexedRecord {
  /// Number of the record in its file, from 1.
  std::size_t number = 0;
  Sample sample;
  RecordLabels labels;
};

/// Something in a record file that is not read, such as "left out, files .seg.png".
struct UnreadEntry {
  std::string what;
  /// Name of the record file, for messages.
  std::string where;
};

/// Stored headers of one record file.
struct RecordIndex {
  std::vector<IndexedRecord> records;
  std::vector<std::string> notes;
  std::vector<UnreadEntry> left_out;
  /// Samples without an image, for error messages: "train-0.tar, 000017".
  std::vector<UnreadEntry> absent;
  /// Origin of the splits, as in Listing::given_splits; empty if the file's records have no split.
  std::string given_splits;
};

/// Returns `body` preceded by the format's name and the hash of `body`, as a valid index is stored.
[[nodiscard]] std::string seal_record_index(std::string_view body);
/// Encodes the index as bytes with a checksum.
[[nodiscard]] std::string encode_record_index(const RecordIndex& index);
/// Decodes an index. Returns nullopt if it is truncated, damaged, or from another version of the program.
[[nodiscard]] std::optional<RecordIndex> decode_record_index(std::string_view bytes);

/// Path of a record file's index below `cache_folder`. Its name is a hash of the file's path, of the file_state() of
/// the file, NAME.lst and NAME.idx, and of `thing`, which names the format.
[[nodiscard]] std::filesystem::path record_index_path(const std::filesystem::path& file, std::string_view thing,
                                                      const std::filesystem::path& cache_folder);

/// Text that changes when the file changes: device, inode, size and times of change. "none" if the file does not exist.
[[nodiscard]] std::string file_state(const std::filesystem::path& path);

/// Reads the index at `path`; nullopt if there is no valid one.
[[nodiscard]] std::optional<RecordIndex> find_record_index(const std::filesystem::path& path);
/// Stores the index atomically, in a folder that only its owner can open, because the index contains patient ids. On
/// failure it logs a debug line, and the next run reads the records again.
void keep_record_index(const std::filesystem::path& path, const RecordIndex& index);

}  // namespace roentgen::data
