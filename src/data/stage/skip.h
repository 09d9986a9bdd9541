// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// skip: drops the first elements of a pass.
#pragma once

#include <cstdint>
#include <string_view>

#include "data/stage/stage_options.h"

namespace roentgen::data {

/// Skip stage. Drops the first `count` elements.
struct SkipStage {
  static constexpr std::string_view kName = "skip";  ///< name in pipeline texts
  std::int64_t count = 0;                            ///< number of dropped elements

  void describe(StageVisitor& visitor);               ///< lists the settings
  [[nodiscard]] Carries gives(Carries before) const;  ///< output kind; ConfigError if the stage cannot take `before`
  friend bool operator==(const SkipStage&, const SkipStage&) = default;
};

}  // namespace roentgen::data
