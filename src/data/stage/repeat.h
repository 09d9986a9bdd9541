// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// repeat: repeats the passes over the data.
#pragma once

#include <cstdint>
#include <string_view>

#include "data/stage/stage_options.h"

namespace roentgen::data {

/// Repeat stage. times = 0 ("forever"): repeats until training ends.
struct RepeatStage {
  static constexpr std::string_view kName = "repeat";  ///< name in pipeline texts
  std::int64_t times = 0;                              ///< number of passes; 0: endless

  void describe(StageVisitor& visitor);               ///< lists the settings
  [[nodiscard]] Carries gives(Carries before) const;  ///< output kind; ConfigError if the stage cannot take `before`
  friend bool operator==(const RepeatStage&, const RepeatStage&) = default;
};

}  // namespace roentgen::data
