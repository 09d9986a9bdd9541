// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// RecordIndex: what the heads of a record file said when it was last read, so that a run on hundreds of thousands of
// records, or on slow storage, need not read them all again to begin. Kept in the cache folder, never beside the data.
// For src/data/source only.
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

/// One image as its record says it: labels are not in the sample yet, nor is the path of its file.
struct IndexedRecord {
  /// In its file, from 1.
  std::size_t number = 0;
  Sample sample;
  RecordLabels labels;
};

/// Something in a record file that is not read: "left out, files .seg.png".
struct UnreadEntry {
  std::string what;
  /// For people: the record file's name.
  std::string where;
};

/// Of one file.
struct RecordIndex {
  std::vector<IndexedRecord> records;
  std::vector<std::string> notes;
  std::vector<UnreadEntry> left_out;
  /// Samples without an image, for errors: "train-0.tar, 000017".
  std::vector<UnreadEntry> absent;
  /// As Listing::given_splits; empty: the file's records say no split.
  std::string given_splits;
};

/// `body` as a sound index has it: behind the name of the format and the hash of what follows.
[[nodiscard]] std::string seal_record_index(std::string_view body);
/// As bytes, sealed.
[[nodiscard]] std::string encode_record_index(const RecordIndex& index);
/// Nothing: cut short, damaged, or of another version of the program.
[[nodiscard]] std::optional<RecordIndex> decode_record_index(std::string_view bytes);

/// Path of the kept index of a record file: below `cache_folder`, under a hash of the file's path and file_state(),
/// those of the NAME.lst and NAME.idx beside it, and `thing`, which names the format.
[[nodiscard]] std::filesystem::path record_index_path(const std::filesystem::path& file, std::string_view thing,
                                                      const std::filesystem::path& cache_folder);

/// Text that changes with a file: device, inode, size and times of change. "none" where there is no such file.
[[nodiscard]] std::string file_state(const std::filesystem::path& path);

/// What is kept there; nothing where that is nothing, or no index.
[[nodiscard]] std::optional<RecordIndex> find_record_index(const std::filesystem::path& path);
/// Keeps it, in one piece, in a folder that only its owner can open since it names patients. Where that cannot be done
/// it is left, with a debug line: the next run reads the records again.
void keep_record_index(const std::filesystem::path& path, const RecordIndex& index);

}  // namespace roentgen::data
