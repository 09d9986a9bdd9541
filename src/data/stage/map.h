// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// map: turns samples into rows. It reads files that were not read before, decodes, distorts, resizes and normalises.
#pragma once

#include <cstdint>
#include <string_view>

#include "data/stage/stage_options.h"

namespace roentgen::data {

/// Map stage. Uses `parallel` threads that work ahead by at most as many rows; 1: the pulling thread does the work.
struct MapStage {
  static constexpr std::string_view kName = "map";  ///< name in pipeline texts
  std::int64_t parallel = 1;                        ///< threads

  void describe(StageVisitor& visitor);               ///< lists the settings
  [[nodiscard]] Carries gives(Carries before) const;  ///< output kind; ConfigError if the stage cannot take `before`
  friend bool operator==(const MapStage&, const MapStage&) = default;
};

}  // namespace roentgen::data
