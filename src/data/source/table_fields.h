// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Columns and fields of csv tables, read tolerantly: any case of a column's name, blanks around a field, short rows.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/source/dataset.h"

namespace roentgen::data {

/// `text` without blanks and line breaks around it.
[[nodiscard]] std::string_view stripped(std::string_view text);

/// A name of a column with a blank for each run of line breaks, which cells of spreadsheets may have.
[[nodiscard]] std::string in_one_line(std::string_view name);

/// Position of the first column whose name equals one of `names`, ignoring case; else of the first that does in one
/// line.
[[nodiscard]] std::optional<std::size_t> find_column(const std::vector<std::string>& header,
                                                     const std::vector<std::string_view>& names);

/// Position of the first column that has any of `names`, ignoring case.
[[nodiscard]] std::optional<std::size_t> first_column(const std::vector<std::string>& header,
                                                      const std::vector<std::string_view>& names);

/// The field of a row, stripped of spaces; empty where the row is too short or there is no such column.
[[nodiscard]] std::string field(const std::vector<std::string>& row, std::optional<std::size_t> column);

/// "a, b, c and 17 more".
[[nodiscard]] std::string first_names(const std::vector<std::string>& names, std::size_t shown = 5);

/// Column that names image files: path, file, filename or image, the first of these that there is, else image_path or
/// the like. Of a table that is
/// read without its images (ImageFiles::Unneeded) the first column of these names, NIH's Image Index and PadChest's
/// ImageID.
[[nodiscard]] std::optional<std::size_t> image_column(const std::vector<std::string>& header,
                                                      ImageFiles files = ImageFiles::Needed);

/// Columns of an image's properties besides its labels; nullopt where the table has no such column.
struct FactColumns {
  std::optional<std::size_t> patient{};  ///< number or name of the patient
  std::optional<std::size_t> study{};    ///< study, or NIH's follow-up number
  std::optional<std::size_t> view{};     ///< position of the patient to the film
  std::optional<std::size_t> sex{};      ///< sex of the patient
  std::optional<std::size_t> age{};      ///< age of the patient
};

/// Finds them by the names that NIH's tables and other common ones give them.
/// @param patient name of the column of patients; empty: found by its name
[[nodiscard]] FactColumns find_facts(const std::vector<std::string>& header, const std::string& patient = {});

/// Puts study, view, sex and age of a row into a sample as the table writes them. The patient is the source's own.
void read_facts(const std::vector<std::string>& row, const FactColumns& columns, Sample& sample);

/// Years from "58", "058Y", "011M", "002W", "027D"; NaN when it is no age up to 120.
[[nodiscard]] float parse_age(std::string_view text);

/// "M" and "F" for male and female in any case and length, "" for unknown, others as they are.
[[nodiscard]] std::string parse_sex(std::string_view text);

}  // namespace roentgen::data
