// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The truth about images, from a label table alone: no image file is looked for. For predictions made elsewhere, and
// for which study an image belongs to. (data/source lists images with their files.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace roentgen::cli {

/// What a table says of one image. Empty or NaN: not known.
struct LabelRow {
  std::string patient;
  std::string study;
  std::string view;
  std::string sex;
  float age_years = std::numeric_limits<float>::quiet_NaN();
  /// (K) 1, 0 or eval::kUnknown
  std::vector<std::int8_t> labels;
};

/// A label table, by image.
struct LabelTable {
  /// File name, for errors.
  std::string what;
  std::string sha256;
  std::vector<LabelRow> rows;
  std::unordered_map<std::string, std::size_t> index;
  /// NIH's: images are found by their base name.
  bool by_base_name = false;

  /// The row of an image, or null.
  [[nodiscard]] const LabelRow* find(std::string_view image) const;
};

/// Reads NIH's form ("Image Index", "Finding Labels") or one with a column an own label (Image Index, image, path, file
/// or filename; 1, 0, -1, yes, no, empty = unknown; "Column:value" as a label). Optional columns: patient, study, view,
/// sex, age. NIH's study is the patient's follow-up number; without a column, a folder named study... or s<number>.
/// @param labels (K) names to read; none is fine
/// DataError on a label that the table does not have, an unreadable field, a repeated image; names lines, never images.
[[nodiscard]] LabelTable read_label_table(const std::filesystem::path& path, const std::vector<std::string>& labels);

}  // namespace roentgen::cli
