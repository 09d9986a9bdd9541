// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Columns and fields of csv tables, read tolerantly.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roentgen::cli {

/// Position of the first column that has one of `names` (lower case), ignoring case and spaces around it.
[[nodiscard]] std::optional<std::size_t> table_column(const std::vector<std::string>& header,
                                                      std::initializer_list<std::string_view> names);

/// The column that names images: Image Index, image, path, file, filename, or PadChest's ImageID.
[[nodiscard]] std::optional<std::size_t> image_column(const std::vector<std::string>& header);
/// The column that says which study of a patient an image belongs to: study, study_id, StudyID, else NIH's Follow-up #.
[[nodiscard]] std::optional<std::size_t> study_column(const std::vector<std::string>& header);

/// The field without spaces around it; empty where the row is too short or there is no such column.
[[nodiscard]] std::string table_field(const std::vector<std::string>& row, std::optional<std::size_t> column);

/// "a, b, c", and of more than 20 "... and 5 more".
[[nodiscard]] std::string joined(const std::vector<std::string>& names);

}  // namespace roentgen::cli
