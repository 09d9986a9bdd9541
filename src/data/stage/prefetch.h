// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// prefetch: pulls elements ahead in a thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "data/stage/stage_options.h"

namespace roentgen::data {

/// Holds up to `count` finished elements, or batches if it follows a batch stage. 0 ("auto"): as many batches as there
/// are slots, or 2 elements.
struct PrefetchStage {
  static constexpr std::string_view kName = "prefetch";  ///< name in pipeline texts
  std::int64_t count = 0;                                ///< elements ahead; 0: automatic

  void describe(StageVisitor& visitor);               ///< lists the settings
  [[nodiscard]] Carries gives(Carries before) const;  ///< output kind; ConfigError if the stage cannot take `before`
  friend bool operator==(const PrefetchStage&, const PrefetchStage&) = default;
};

}  // namespace roentgen::data
