// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// skip: all but the first elements of a pass.
#pragma once

#include <cstdint>
#include <string_view>

#include "data/stage/stage_options.h"

namespace roentgen::data {

/// Skips the first `count` elements.
struct SkipStage {
  static constexpr std::string_view kName = "skip";  ///< name in pipeline texts
  std::int64_t count = 0;                            ///< elements left out

  void describe(StageVisitor& visitor);               ///< lists the settings
  [[nodiscard]] Carries gives(Carries before) const;  ///< kind of its output; ConfigError when `before` does not fit
  friend bool operator==(const SkipStage&, const SkipStage&) = default;
};

}  // namespace roentgen::data
