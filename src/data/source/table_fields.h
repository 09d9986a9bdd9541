// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads columns and fields of csv tables tolerantly: column names in any case, blanks around fields, short rows.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/source/dataset.h"

namespace roentgen::data {

/// Returns `text` without blanks and line breaks around it.
[[nodiscard]] std::string_view stripped(std::string_view text);

/// Replaces each run of line breaks in a column name by a blank. Cells of spreadsheets may contain line breaks.
[[nodiscard]] std::string in_one_line(std::string_view name);

/// Index of the first column whose name equals one of `names`, ignoring case. If there is none, compares again with
/// line breaks replaced by blanks.
[[nodiscard]] std::optional<std::size_t> find_column(const std::vector<std::string>& header,
                                                     const std::vector<std::string_view>& names);

/// Index of the first column with any of `names`, ignoring case.
[[nodiscard]] std::optional<std::size_t> first_column(const std::vector<std::string>& header,
                                                      const std::vector<std::string_view>& names);

/// Field of a row, without spaces around it; empty if the row is too short or there is no such column.
[[nodiscard]] std::string field(const std::vector<std::string>& row, std::optional<std::size_t> column);

/// Text such as "a, b, c and 17 more", with the first `shown` names.
[[nodiscard]] std::string first_names(const std::vector<std::string>& names, std::size_t shown = 5);

/// Index of the column that names image files: the first existing one of path, file, filename and image, else a column
/// like image_path. With ImageFiles::Unneeded, NIH's Image Index and PadChest's ImageID are also accepted, and the
/// first such column is used.
/// @param told name of the column (SourceOptions::image); empty: found as above
[[nodiscard]] std::optional<std::size_t> image_column(const std::vector<std::string>& header,
                                                      ImageFiles files = ImageFiles::Needed,
                                                      const std::string& told = {});

/// Names of columns that the user has given; empty: found by their usual names.
struct GivenColumns {
  std::string image{};    ///< SourceOptions::image
  std::string patient{};  ///< SourceOptions::patient
};

/// Indices of columns with properties of an image other than labels; nullopt if the table has no such column.
struct FactColumns {
  std::optional<std::size_t> patient{};  ///< number or name of the patient
  std::optional<std::size_t> study{};    ///< study, or NIH's follow-up number
  std::optional<std::size_t> view{};     ///< view position
  std::optional<std::size_t> sex{};      ///< patient's sex
  std::optional<std::size_t> age{};      ///< patient's age
};

/// Finds the columns by the names that NIH's tables and other common tables use.
/// @param patient name of the patient column; empty: found by its usual names
[[nodiscard]] FactColumns find_facts(const std::vector<std::string>& header, const std::string& patient = {});

/// Copies study, view, sex and age of a row into a sample, unchanged. Each dataset reader reads the patient id itself.
void read_facts(const std::vector<std::string>& row, const FactColumns& columns, Sample& sample);

/// Years from texts such as "58", "058Y", "011M", "002W" or "027D"; NaN if this is not an age up to 120.
[[nodiscard]] float parse_age(std::string_view text);

/// Returns "M" and "F" for male and female in any case or abbreviation, "" for unknown, and other texts unchanged.
[[nodiscard]] std::string parse_sex(std::string_view text);

}  // namespace roentgen::data
