// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// shuffle: changes the order of elements in every pass.
#pragma once

#include <cstdint>
#include <string_view>

#include "data/stage/stage_options.h"

namespace roentgen::data {

/// Shuffle stage. buffer = 0 ("all"): a Fisher-Yates shuffle of the whole pass. Otherwise it draws from a buffer of
/// that many elements and replaces each drawn element by the next one. Use a buffer if the elements of a pass do not
/// fit into memory.
struct ShuffleStage {
  static constexpr std::string_view kName = "shuffle";  ///< name in pipeline texts
  std::int64_t buffer = 0;                              ///< number of elements in the buffer; 0: the whole pass

  void describe(StageVisitor& visitor);               ///< lists the settings
  [[nodiscard]] Carries gives(Carries before) const;  ///< output kind; ConfigError if the stage cannot take `before`
  friend bool operator==(const ShuffleStage&, const ShuffleStage&) = default;
};

}  // namespace roentgen::data
