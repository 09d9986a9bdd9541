// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// interleave: from files to the samples in them, several files at a time.
#pragma once

#include <cstdint>
#include <string_view>

#include "data/stage/stage_options.h"

namespace roentgen::data {

/// Mixes samples of several files, as tf.data's interleave does. `cycle` files are open. `block` samples of one are
/// followed by `block` of the next; the next unopened file replaces a file that ends. `parallel` threads read ahead, by
/// at most as many samples (1: the thread that pulls reads).
struct InterleaveStage {
  static constexpr std::string_view kName = "interleave";  ///< name in pipeline texts
  std::int64_t cycle = 1;                                  ///< files open at a time
  std::int64_t block = 1;                                  ///< samples of one file in a row
  std::int64_t parallel = 1;                               ///< threads that read

  void describe(StageVisitor& visitor);               ///< lists the settings
  [[nodiscard]] Carries gives(Carries before) const;  ///< kind of its output; ConfigError when `before` does not fit
  friend bool operator==(const InterleaveStage&, const InterleaveStage&) = default;
};

}  // namespace roentgen::data
