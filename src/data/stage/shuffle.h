// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// shuffle: another order in every pass.
#pragma once

#include <cstdint>
#include <string_view>

#include "data/stage/stage_options.h"

namespace roentgen::data {

/// buffer = 0 ("all"): a Fisher-Yates shuffle of the whole pass. Otherwise: a buffer of that many elements; each drawn
/// element is replaced by the next one. Use a buffer where elements are too large to hold all.
struct ShuffleStage {
  static constexpr std::string_view kName = "shuffle";  ///< name in pipeline texts
  std::int64_t buffer = 0;                              ///< elements held; 0: the whole pass

  void describe(StageVisitor& visitor);               ///< lists the settings
  [[nodiscard]] Carries gives(Carries before) const;  ///< kind of its output; ConfigError when `before` does not fit
  friend bool operator==(const ShuffleStage&, const ShuffleStage&) = default;
};

}  // namespace roentgen::data
