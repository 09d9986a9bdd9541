// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// interleave: from files to the samples in them, several files at a time.
#pragma once

#include <cstdint>
#include <string_view>

#include "data/stage/stage_options.h"

namespace roentgen::data {

/// `cycle` files are open; `block` samples of one are followed by `block` of the next, and a file that ends is replaced
/// by the next to come, as tf.data's interleave has it. `parallel` threads read ahead (1: whoever pulls reads), up to
/// that many samples.
struct InterleaveStage {
  static constexpr std::string_view kName = "interleave";  ///< name in the text
  std::int64_t cycle = 1;                                  ///< files open at a time
  std::int64_t block = 1;                                  ///< samples of one file in a row
  std::int64_t parallel = 1;                               ///< threads that read

  void describe(StageVisitor& visitor);               ///< lists the settings
  [[nodiscard]] Carries gives(Carries before) const;  ///< output; ConfigError for another input
  friend bool operator==(const InterleaveStage&, const InterleaveStage&) = default;
};

}  // namespace roentgen::data
