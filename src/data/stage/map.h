// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// map: from samples to rows: read where that was not done, decode, distort, resize, normalise.
#pragma once

#include <cstdint>
#include <string_view>

#include "data/stage/stage_options.h"

namespace roentgen::data {

/// Maps with `parallel` threads (1: the thread that pulls), which work at most as many rows ahead.
struct MapStage {
  static constexpr std::string_view kName = "map";  ///< name in pipeline texts
  std::int64_t parallel = 1;                        ///< threads

  void describe(StageVisitor& visitor);               ///< lists the settings
  [[nodiscard]] Carries gives(Carries before) const;  ///< kind of its output; ConfigError when `before` does not fit
  friend bool operator==(const MapStage&, const MapStage&) = default;
};

}  // namespace roentgen::data
