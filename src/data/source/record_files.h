// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Files of records in a data folder, and what their names say. For src/data/source only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "data/source/dataset.h"

namespace roentgen::data {

/// What the files hold.
enum class RecordKind : std::uint8_t { TfRecord };

/// A file of records.
struct RecordFile {
  std::filesystem::path path;
  /// What its name begins with, before "-", "_" or ".": "train", "training", "val", "valid", "validate", "validation",
  /// "eval", "test"; else None.
  Split split = Split::None;
  /// Is it its ending that says what it holds, not its number alone?
  bool has_ending = false;
};

/// How many of the files NAME-00000-of-00010 there are to be are absent, as "9 of train-*-of-00010"; empty: none is.
[[nodiscard]] std::string absent_record_files(const std::vector<RecordFile>& files);

/// The files of that kind in a folder, not below it, by name: those with its ending (.tfrecord, .tfrecords, .tfrec) and
/// those of the form NAME-00000-of-00010.
[[nodiscard]] std::vector<RecordFile> record_files(const std::filesystem::path& folder, RecordKind kind);

}  // namespace roentgen::data
