// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Fuzz targets: functions that give arbitrary bytes to one parser. A parser may refuse them (a Failure, a ConfigError
// or a DataError in one line). It must not crash, allocate without bound, or throw anything else.
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

/// In the order of the list.
[[nodiscard]] std::vector<std::string_view> target_names();

/// Gives the target of that name the bytes. std::logic_error where the parser did what it may not, and for another
/// name.
void run_target(std::string_view name, Input input);

[[nodiscard]] std::string_view text_of(Input input);

/// std::logic_error saying what should have held.
void require(bool holds, std::string_view what);

/// Calls something that may refuse its input by ConfigError or DataError; both must be one line.
void may_refuse(const std::function<void()>& call);

/// A folder of this process for parsers that take a path; gone when the process ends.
[[nodiscard]] const std::filesystem::path& scratch_folder();

/// Writes a file there, over the one before.
std::filesystem::path write_scratch(std::string_view name, Input bytes);

}  // namespace roentgen::fuzz
