// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// take: limits a pass to a number of elements.
#pragma once

#include <cstdint>
#include <string_view>

#include "data/stage/stage_options.h"

namespace roentgen::data {

/// Stage that passes only the first `count` elements of a pass.
struct TakeStage {
  static constexpr std::string_view kName = "take";  ///< name in pipeline texts
  std::int64_t count = 0;                            ///< number of elements

  void describe(StageVisitor& visitor);               ///< lists the settings
  [[nodiscard]] Carries gives(Carries before) const;  ///< output kind; ConfigError if the stage cannot take `before`
  friend bool operator==(const TakeStage&, const TakeStage&) = default;
};

}  // namespace roentgen::data
