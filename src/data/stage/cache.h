// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// cache: keeps what it was given in the first pass, in memory, and gives the same in the next ones.
#pragma once

#include <cstdint>
#include <string_view>

#include "data/stage/stage_options.h"

namespace roentgen::data {

/// Refuses more than `limit_mb` MiB.
struct CacheStage {
  static constexpr std::string_view kName = "cache";
  std::int64_t limit_mb = 1024;

  void describe(StageVisitor& visitor);
  [[nodiscard]] Carries gives(Carries before) const;
  friend bool operator==(const CacheStage&, const CacheStage&) = default;
};

}  // namespace roentgen::data
