// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// HTML elements and longer sections of the report page. Internal to report_*.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "publish/report_page.h"

namespace roentgen::publish {

/// CSS of the page, for screens from phones upwards, for light mode, dark mode and print.
extern const std::string_view kReportStyle;

/// Returns an HTML line that says what is missing. Escapes `text`.
[[nodiscard]] std::string absent(std::string_view text);
/// Returns an HTML <code> element with `text` escaped.
[[nodiscard]] std::string code(std::string_view text);
/// Returns a number and a noun, such as "1 image" or "12 images"; " images" if `value` is null.
/// @param many plural of `one`; empty: `one` with an s
[[nodiscard]] std::string count_text(const Value* value, std::string_view one, std::string_view many = {});
/// True if a table from `roentgen eval` was computed by study. For an evaluation: its rows are studies. For thresholds:
/// they were chosen on studies.
[[nodiscard]] bool is_by_study(const Value* table);
/// Returns an HTML heading with an id, to which the page's table of contents links.
[[nodiscard]] std::string heading(std::string_view id, std::string_view title);
/// Returns an HTML table in a box that scrolls, also by keyboard. All columns except the first contain numbers.
/// @param name name of the table for screen readers
/// @param head, rows cells as HTML
[[nodiscard]] std::string number_table(std::string_view name, const std::vector<std::string>& head,
                                       const std::vector<std::vector<std::string>>& rows);

/// Returns the title of a run on the page, such as "A: baseline"; empty if the page has only one run.
[[nodiscard]] std::string run_title(const ReportInput& input, std::size_t run);
/// Returns `text`, preceded by "A " or "B " if there are two runs.
[[nodiscard]] std::string with_letter(const ReportInput& input, std::size_t run, std::string_view text);
/// Returns the name of the split that has this list of images, such as "split "test" of the run". Returns "A: ...; B:
/// ..." if the names differ between two runs.
[[nodiscard]] std::string list_text(const ReportInput& input, const std::string& list_sha256);

/// Returns the HTML section of AUROCs, with forest plot and table; for two runs also with the differences.
[[nodiscard]] std::string result_section(const ReportInput& input);
/// Returns the HTML section of the evaluation's thresholds and the metrics at these thresholds.
[[nodiscard]] std::string threshold_section(const ReportInput& input);
/// Returns the HTML sections of ROC curves and reliability diagrams. Throws DataError as eval::check_predictions()
/// does.
[[nodiscard]] std::string curve_sections(const ReportInput& input);
/// Returns the HTML section of loss, validation AUROC and learning rate by update.
[[nodiscard]] std::string training_section(const ReportInput& input);

}  // namespace roentgen::publish
