// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// skip: all but the first elements of a pass.
#pragma once

#include <cstdint>
#include <string_view>

#include "data/stage/stage_options.h"

namespace roentgen::data {

/// Without the first `count` elements.
struct SkipStage {
  static constexpr std::string_view kName = "skip";
  std::int64_t count = 0;

  void describe(StageVisitor& visitor);
  [[nodiscard]] Carries gives(Carries before) const;
  friend bool operator==(const SkipStage&, const SkipStage&) = default;
};

}  // namespace roentgen::data
