// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// repeat: pass after pass over the data.
#pragma once

#include <cstdint>
#include <string_view>

#include "data/stage/stage_options.h"

namespace roentgen::data {

/// times = 0 ("forever"): repeats until the training ends.
struct RepeatStage {
  static constexpr std::string_view kName = "repeat";  ///< name in pipeline texts
  std::int64_t times = 0;                              ///< passes; 0: endless

  void describe(StageVisitor& visitor);               ///< lists the settings
  [[nodiscard]] Carries gives(Carries before) const;  ///< kind of its output; ConfigError when `before` does not fit
  friend bool operator==(const RepeatStage&, const RepeatStage&) = default;
};

}  // namespace roentgen::data
