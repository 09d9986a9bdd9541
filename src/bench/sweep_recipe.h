// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Recipe of the setting that a sweep chose, and the command that trains with it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "bench/network.h"
#include "bench/sweep.h"

namespace roentgen::bench {

/// Options that are equal for all settings of a sweep. Empty texts and 0: not given.
struct SweepOptions {
  std::int64_t threads = 0;        ///< compute threads of a rank
  std::string hosts{};             ///< value of --hosts
  std::string reduce{};            ///< value of --reduce
  std::string wire{};              ///< value of --wire
  double bucket_mb = 4.0;          ///< value of --bucket-mb
  bool may_oversubscribe = false;  ///< --oversubscribe
  bool may_share_device = false;   ///< --allow-shared-gpu
};

/// Returns a recipe as TOML with the network and the keys that the sweep set; other keys keep their defaults. Throws
/// ConfigError if a recipe cannot hold a value, such as the kernels `winograd`.
/// @param network network and device of the sweep
/// @param options the number of threads and, for several ranks, the size of buckets become keys
/// @param comment first line of the recipe
[[nodiscard]] std::string sweep_recipe(const NetworkOptions& network, const SweepSetting& setting,
                                       const SweepOptions& options, std::string_view comment);

/// Returns the command of a long test (`bench long`) with the recipe, the setting's ranks and GDR, and the options. DIR
/// and the target are left to the user.
[[nodiscard]] std::string long_command(const std::filesystem::path& recipe, const SweepSetting& setting,
                                       const SweepOptions& options);
/// Returns the command that trains with the recipe, the setting's ranks and GDR, and the options.
[[nodiscard]] std::string train_command(const std::filesystem::path& recipe, const SweepSetting& setting,
                                        const SweepOptions& options);

}  // namespace roentgen::bench
