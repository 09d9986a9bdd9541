// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Prints a command's result for people. Programs read the same result from the --json file.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "core/value.h"

namespace roentgen::cli {

/// Formats a result with one line for each entry, such as "step_ms  median 61.2, p95 63.0". Keys are aligned, long
/// lines wrapped. A table of tables gets a line for each inner table ("engines.cpu"). An array of tables becomes a
/// table with columns. Keys in `left_out` are not shown. Ends with a newline.
[[nodiscard]] std::string report_text(const Value& report, std::initializer_list<std::string_view> left_out = {});

}  // namespace roentgen::cli
