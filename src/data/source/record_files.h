// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Files of records in a data folder, and what their names say. For src/data/source only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/source/dataset.h"

namespace roentgen::data {

/// What the files hold.
enum class RecordKind : std::uint8_t { TfRecord, Tar, RecordIo, Lmdb };

/// A file of records.
struct RecordFile {
  std::filesystem::path path;
  /// For people: its name, of data.mdb with that of its folder.
  std::string name;
  /// Split that its name begins with, in any case and before anything but a letter: "train", "training", "val",
  /// "valid", "validate", "validation", "eval", "test", "testing"; else None.
  Split split = Split::None;
  /// Is it its ending that says what it holds, not its number alone?
  bool has_ending = false;
};

/// How many of the files NAME-00000-of-00010 there are to be are absent, as "9 of train-*-of-00010"; empty: none is.
[[nodiscard]] std::string absent_record_files(const std::vector<RecordFile>& files);

/// Names of files that are absent between numbered ones (NAME-000.tar, NAME-002.tar) whose names say no total, in
/// order: no error, since parts of a data set are numbered so as well.
[[nodiscard]] std::vector<std::string> gaps_between_record_files(const std::vector<RecordFile>& files);

/// The files of that kind in a folder, not below it, by name, links that lead nowhere too, with ".gz" behind it or not:
/// those with its ending
/// (.tfrecord, .tfrecords, .tfrec; .tar; .rec), also before numbers (NAME.tfrecord-00000-of-00010), and, of TFRecord,
/// those of the form NAME-00000-of-00010 without an ending. Of LMDB data.mdb in the folder, or in those below it, whose
/// names then say the split.
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
