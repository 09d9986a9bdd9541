// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Recipe of the setting that a sweep chose, and the command that trains with it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "bench/network.h"
#include "bench/sweep.h"

namespace roentgen::bench {

/// Returns a recipe as TOML with the network and the keys that the sweep set; other keys keep their defaults. Throws
/// ConfigError if a recipe cannot hold a value, such as the kernels `winograd`.
/// @param network network and device of the sweep
/// @param threads value of --threads; 0: none
/// @param comment first line of the recipe
[[nodiscard]] std::string sweep_recipe(const NetworkOptions& network, const SweepSetting& setting, std::int64_t threads,
                                       std::string_view comment);

/// Returns the command of a long test (`bench long`) with the recipe, and with the setting's ranks and GDR. DIR and the
/// target are left to the user.
[[nodiscard]] std::string long_command(const std::filesystem::path& recipe, const SweepSetting& setting);
/// Returns the command that trains with the recipe, and with the setting's ranks and GDR.
[[nodiscard]] std::string train_command(const std::filesystem::path& recipe, const SweepSetting& setting);

}  // namespace roentgen::bench
