// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// prefetch: a thread that pulls ahead.
#pragma once

#include <cstdint>
#include <string_view>

#include "data/stage/stage_options.h"

namespace roentgen::data {

/// Holds up to `count` elements; after a batch stage, batches. 0 ("auto"): as many batches as there are slots, or 2
/// elements.
struct PrefetchStage {
  static constexpr std::string_view kName = "prefetch";  ///< name in pipeline texts
  std::int64_t count = 0;                                ///< elements ahead; 0: chosen

  void describe(StageVisitor& visitor);               ///< lists the settings
  [[nodiscard]] Carries gives(Carries before) const;  ///< kind of its output; ConfigError when `before` does not fit
  friend bool operator==(const PrefetchStage&, const PrefetchStage&) = default;
};

}  // namespace roentgen::data
