// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The truth about images, from a label table alone: no image file is looked for. For predictions made elsewhere.
// (data/source lists images with their files; cli/truth.h asks whichever of the two can read what --labels names.)
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "cli/name_index.h"
#include "core/value.h"

namespace roentgen::data {
struct SourceOptions;
}

namespace roentgen::cli {

/// What a table says of one image. Empty or NaN: not known.
struct LabelRow {
  /// As the table names it; NIH's by base name.
  std::string image;
  std::string patient;
  std::string study;
  std::string view;
  std::string sex;
  float age_years = std::numeric_limits<float>::quiet_NaN();
  /// Which of several data sets it is of.
  std::string source;
  /// (K) 1, 0 or eval::kUnknown
  std::vector<std::int8_t> labels;
};

/// A file that labels were read from.
struct LabelFile {
  /// Without folder.
  std::string name;
  std::string sha256;
};

/// Labels by image.
struct LabelTable {
  /// File name, or the data folder's, for errors.
  std::string what{};
  std::vector<LabelFile> files{};
  std::vector<LabelRow> rows{};
  /// Of the rows.
  NameIndex index{};
  /// Labels asked for that the truth does not have: unknown of every row.
  std::vector<std::string> absent{};
  /// Lines for people, which name no image and no patient.
  std::vector<std::string> notes{};

  /// The row of an image, or null: NameIndex::find_ending().
  [[nodiscard]] const LabelRow* find(std::string_view image) const;
  /// For people: "labels: FILE, sha256 ..." a line a file.
  [[nodiscard]] std::string files_text() const;
  /// For JSON: [{"file", "sha256"}].
  [[nodiscard]] Value files_value() const;
  /// For JSON: the hash of the one file, or an array of several.
  [[nodiscard]] Value sha256_value() const;
};

/// Reads NIH's form ("Image Index", "Finding Labels") or one with a column an own label (Image Index, image, path, file
/// or filename; 1, 0, -1, yes, no, empty = unknown; "Column:value" as a label). Optional columns: patient, study, view,
/// sex, age. NIH's study is the patient's follow-up number; without a column, a folder named study... or s<number>.
/// @param labels (K) names to read; none is fine
/// @param options what blanks and -1 mean, as in a recipe's [data]
/// Labels are found whatever their case, by any name of the finding (data/source/finding_names.h). DataError on a label
/// that the table does not have (with UnknownLabels::Mask it is unknown, and DataError when the table has none of
/// them), an unreadable field, a repeated image; names lines, never images.
[[nodiscard]] LabelTable read_label_table(const std::filesystem::path& path, const std::vector<std::string>& labels,
                                          const data::SourceOptions& options);

}  // namespace roentgen::cli
