// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Finds the record files of a data folder and interprets their names. For src/data/source only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/source/dataset.h"

namespace roentgen::data {

/// Format of a record file.
enum class RecordKind : std::uint8_t { TfRecord, Tar, RecordIo, Lmdb };

/// A record file.
struct RecordFile {
  std::filesystem::path path;
  /// Name for messages; for data.mdb the name of its folder is included.
  std::string name;
  /// Split that the beginning of the name states, ignoring case, if no letter follows. Words: "train", "training",
  /// "val", "valid", "validate", "validation", "eval", "test", "testing". None for other names.
  Split split = Split::None;
  /// True if the extension identifies the format; false if only a number such as 00000-of-00010 does.
  bool has_ending = false;
};

/// Describes missing files of a series NAME-00000-of-00010, such as "9 of train-*-of-00010"; empty if none is missing.
[[nodiscard]] std::string absent_record_files(const std::vector<RecordFile>& files);

/// Names of missing files in a series whose names do not tell the number of files (NAME-000.tar, NAME-002.tar), in
/// order. A gap is no error, because a user may have only some files of a data set.
[[nodiscard]] std::vector<std::string> gaps_between_record_files(const std::vector<RecordFile>& files);

/// Record files of one format directly in a folder, sorted by name, including dangling links, with or without ".gz".
/// Extensions are .tfrecord, .tfrecords, .tfrec; .tar; .rec, also before numbers (NAME.tfrecord-00000-of-00010).
/// TFRecord files may also be called NAME-00000-of-00010. For LMDB: data.mdb in the folder, or in subfolders, whose
/// names then state the split.
[[nodiscard]] std::vector<RecordFile> record_files(const std::filesystem::path& folder, RecordKind kind);

/// Files data.mdb in the subfolders of `folder`, sorted by subfolder. record_files() uses them if `folder` has no
/// data.mdb.
[[nodiscard]] std::vector<RecordFile> databases_below(const std::filesystem::path& folder);

/// True if a name has an extension of TFRecord, tar or RecordIO files, gzipped or not.
[[nodiscard]] bool has_record_ending(std::string_view name);

/// Split that the beginning of a file's name states, as in RecordFile::split.
[[nodiscard]] Split split_of_name(std::string_view name);

/// True for names with a word for train, val or test anywhere, such as "cxr-test-0.tar".
[[nodiscard]] bool holds_split_word(std::string_view name);

}  // namespace roentgen::data
