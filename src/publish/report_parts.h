// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Parts of the report's page: pieces of HTML, and the sections that are longer than a paragraph. Internal to
// report_*.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "publish/report_page.h"

namespace roentgen::publish {

/// Inline style of the page: any width from a phone's up, light, dark and print.
extern const std::string_view kReportStyle;

/// A line that names a missing part. Escapes `text`.
[[nodiscard]] std::string absent(std::string_view text);
/// `text` in a <code> element, escaped.
[[nodiscard]] std::string code(std::string_view text);
/// "1 image", "12 images" for a number; " images" without one.
/// @param many plural of `one`; empty = with an s
[[nodiscard]] std::string count_text(const Value* value, std::string_view one, std::string_view many = {});
/// True for the JSON of `roentgen eval --by study`, whose rows are studies; of thresholds: chosen on studies.
[[nodiscard]] bool is_by_study(const Value* table);
/// A heading with the id that the page's list of sections links to.
[[nodiscard]] std::string heading(std::string_view id, std::string_view title);
/// A table that scrolls in a box of its own, also by keyboard. All but the first column are numbers.
/// @param name for screen readers
/// @param head, rows cells as HTML
[[nodiscard]] std::string number_table(std::string_view name, const std::vector<std::string>& head,
                                       const std::vector<std::vector<std::string>>& rows);

/// Name of a run on the page: "", or "A: baseline" when there are two.
[[nodiscard]] std::string run_title(const ReportInput& input, std::size_t run);
/// `text`, with "A " or "B " before it when there are two runs.
[[nodiscard]] std::string with_letter(const ReportInput& input, std::size_t run, std::string_view text);
/// Name of the split that the list of images is in each run: "split "test" of the run". Two runs that differ
/// give "A: ...; B: ...".
[[nodiscard]] std::string list_text(const ReportInput& input, const std::string& list_sha256);

/// AUROCs with forest plot and table; two runs with their differences.
[[nodiscard]] std::string result_section(const ReportInput& input);
/// Thresholds of the evaluation, and the results at them.
[[nodiscard]] std::string threshold_section(const ReportInput& input);
/// ROC curves and reliability diagrams. DataError as eval::check_predictions().
[[nodiscard]] std::string curve_sections(const ReportInput& input);
/// Loss, validation AUROC and learning rate by update.
[[nodiscard]] std::string training_section(const ReportInput& input);

}  // namespace roentgen::publish
