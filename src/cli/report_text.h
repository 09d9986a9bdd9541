// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Prints a command's result for people. Programs read the same result from --json FILE.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "core/value.h"

namespace roentgen::cli {

/// One line an entry of the table `report`, keys aligned, long lines broken: "step_ms  median 61.2, p95 63.0". Tables
/// of tables give a line each ("engines.cpu"), arrays of tables a table with columns. Keys in `left_out` are not shown.
/// Ends with a newline.
[[nodiscard]] std::string report_text(const Value& report, std::initializer_list<std::string_view> left_out = {});

}  // namespace roentgen::cli
