// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Files of records in a data folder, and what their names say. For src/data/source only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "data/source/dataset.h"

namespace roentgen::data {

/// What the files hold.
enum class RecordKind : std::uint8_t { TfRecord };

/// A file of records.
struct RecordFile {
  std::filesystem::path path;
  /// What its name begins with: "train-00000-of-00010", "val-...", "validation-...", "test-..."; else None.
  Split split = Split::None;
};

/// The files of that kind in a folder, not below it, by name: those with its ending (.tfrecord, .tfrecords, .tfrec) and
/// those of the form NAME-00000-of-00010.
[[nodiscard]] std::vector<RecordFile> record_files(const std::filesystem::path& folder, RecordKind kind);

}  // namespace roentgen::data
