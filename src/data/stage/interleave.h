// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// interleave: turns files into their samples, from several files at a time.
#pragma once

#include <cstdint>
#include <string_view>

#include "data/stage/stage_options.h"

namespace roentgen::data {

/// Mixes the samples of several files, as tf.data's interleave does. Keeps `cycle` files open and takes `block` samples
/// from each in turn. A file that ends is replaced by the next unopened one. `parallel` threads read ahead by at most
/// as many samples; 1: the pulling thread reads.
struct InterleaveStage {
  static constexpr std::string_view kName = "interleave";  ///< name in pipeline texts
  std::int64_t cycle = 1;                                  ///< number of files open at a time
  std::int64_t block = 1;                                  ///< consecutive samples from one file
  std::int64_t parallel = 1;                               ///< number of reading threads

  void describe(StageVisitor& visitor);               ///< lists the settings
  [[nodiscard]] Carries gives(Carries before) const;  ///< output kind; ConfigError if the stage cannot take `before`
  friend bool operator==(const InterleaveStage&, const InterleaveStage&) = default;
};

}  // namespace roentgen::data
