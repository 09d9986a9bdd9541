// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Settings of batch and map_and_batch, which move samples or rows to the caller's slots. The Loader (loader.h) does
// their work.
#pragma once

#include <cstdint>
#include <string_view>

#include "data/stage/stage_options.h"

namespace roentgen::data {

/// Copies rows into a slot, by one thread. The last batch of all is filled with padding.
struct BatchStage {
  static constexpr std::string_view kName = "batch";  ///< name in pipeline texts
  void describe(StageVisitor& visitor);               ///< lists the settings
  [[nodiscard]] Carries gives(Carries before) const;  ///< output; throws ConfigError
  friend bool operator==(const BatchStage&, const BatchStage&) = default;
};

/// Maps samples straight into a slot, so that no row is copied. Uses `parallel` threads (0, "auto": as many as the
/// loader has). Reads up to `reads` files at once, never fewer than threads (0, "auto": as many as read_tuner.h
/// measures). The very last batch is filled with padding.
struct MapAndBatchStage {
  static constexpr std::string_view kName = "map_and_batch";  ///< name in pipeline texts
  std::int64_t parallel = 0;                                  ///< threads; 0: as the loader's
  std::int64_t reads = 0;                                     ///< files read at once; 0: by measuring
  void describe(StageVisitor& visitor);                       ///< lists the settings
  [[nodiscard]] Carries gives(Carries before) const;          ///< output; throws ConfigError
  friend bool operator==(const MapAndBatchStage&, const MapAndBatchStage&) = default;
};

}  // namespace roentgen::data
