// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Settings of batch and map_and_batch, the stages that move samples or rows to the caller's slots. The Loader
// (loader.h) implements them.
#pragma once

#include <cstdint>
#include <string_view>

#include "data/stage/stage_options.h"

namespace roentgen::data {

/// Copies rows into a slot with one thread. The last batch of the run is padded.
struct BatchStage {
  static constexpr std::string_view kName = "batch";  ///< name in pipeline texts
  void describe(StageVisitor& visitor);               ///< lists the settings
  [[nodiscard]] Carries gives(Carries before) const;  ///< output kind; ConfigError if the stage cannot take `before`
  friend bool operator==(const BatchStage&, const BatchStage&) = default;
};

/// Decodes and transforms samples directly into a slot, so that no row is copied. Uses `parallel` threads (0, "auto":
/// as many as the loader has). Reads up to `reads` files at once, at least one per thread (0, "auto": as many as
/// read_tuner.h finds useful). The last batch of the run is padded.
struct MapAndBatchStage {
  static constexpr std::string_view kName = "map_and_batch";  ///< name in pipeline texts
  std::int64_t parallel = 0;                                  ///< threads; 0: as many as the loader has
  std::int64_t reads = 0;                                     ///< files read at once; 0: tuned
  void describe(StageVisitor& visitor);                       ///< lists the settings
  [[nodiscard]] Carries gives(Carries before) const;  ///< output kind; ConfigError if the stage cannot take `before`
  friend bool operator==(const MapAndBatchStage&, const MapAndBatchStage&) = default;
};

}  // namespace roentgen::data
