// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Fuzz targets: functions that give arbitrary bytes to one parser. A parser may refuse them by a Failure, a ConfigError
// or a DataError of one line. It must not crash, allocate without bound, or throw anything else.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/target_list.h"

namespace roentgen::fuzz {

using Input = std::span<const std::byte>;

#define RG_DECLARE_TARGET(name, seeds) void fuzz_##name(Input input);
RG_FUZZ_TARGETS(RG_DECLARE_TARGET)
#undef RG_DECLARE_TARGET

/// Names of all targets, in the order of the list.
[[nodiscard]] std::vector<std::string_view> target_names();

/// Runs the target `name` on the bytes. Throws std::logic_error if the parser misbehaves, or if there is no such
/// target.
void run_target(std::string_view name, Input input);

[[nodiscard]] std::string_view text_of(Input input);

/// Throws std::logic_error with `what` unless `holds`.
void require(bool holds, std::string_view what);

/// Calls a function that may throw ConfigError or DataError; throws std::logic_error if its text has several lines.
void may_refuse(const std::function<void()>& call);

/// Temporary folder of this process, for parsers that take a path; removed when the process ends.
[[nodiscard]] const std::filesystem::path& scratch_folder();

/// Writes a file in scratch_folder(), and replaces an earlier one.
std::filesystem::path write_scratch(std::string_view name, Input bytes);

}  // namespace roentgen::fuzz
