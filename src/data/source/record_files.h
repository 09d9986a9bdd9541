// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Record files of a data folder, and the information in their names. For src/data/source only.
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

/// A file of records.
struct RecordFile {
  std::filesystem::path path;
  /// Name for people; for data.mdb with the name of its folder.
  std::string name;
  /// Split given by the beginning of the name, in any case and not followed by a letter. Words: "train", "training",
  /// "val", "valid", "validate", "validation", "eval", "test", "testing"; else None.
  Split split = Split::None;
  /// Whether its ending identifies the format, not its number alone.
  bool has_ending = false;
};

/// Missing files of a series NAME-00000-of-00010, as "9 of train-*-of-00010"; empty: none.
[[nodiscard]] std::string absent_record_files(const std::vector<RecordFile>& files);

/// Names of the missing files in a numbered series (NAME-000.tar, NAME-002.tar) without a total, in order. Not an
/// error, since parts of a data set are numbered this way too.
[[nodiscard]] std::vector<std::string> gaps_between_record_files(const std::vector<RecordFile>& files);

/// Record files of a kind directly in a folder, by name, including dangling links, with or without ".gz". Their endings
/// are .tfrecord, .tfrecords, .tfrec; .tar; .rec, also before numbers (NAME.tfrecord-00000-of-00010). TFRecord files
/// may have the form NAME-00000-of-00010 without an ending. For LMDB: data.mdb in the folder, or in folders below it,
/// whose names then give the split.
[[nodiscard]] std::vector<RecordFile> record_files(const std::filesystem::path& folder, RecordKind kind);

/// The files data.mdb in folders below one, by the folders' names. record_files() gives them where `folder` has none.
[[nodiscard]] std::vector<RecordFile> databases_below(const std::filesystem::path& folder);

/// True for names with an ending of TFRecord, tar or RecordIO files, gzipped or not.
[[nodiscard]] bool has_record_ending(std::string_view name);

/// The split that a file's name begins with, as RecordFile::split.
[[nodiscard]] Split split_of_name(std::string_view name);

/// True for names with a word for train, val or test anywhere: "cxr-test-0.tar".
[[nodiscard]] bool holds_split_word(std::string_view name);

}  // namespace roentgen::data
