// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// shard: selects the part of the data for each rank.
#pragma once

#include <string_view>

#include "data/stage/shard_options.h"
#include "data/stage/stage_options.h"

namespace roentgen::data {

/// Selects this rank's part. Files: one of every `ranks` files. Samples and rows: one part of each global batch, which
/// has batch * ranks consecutive elements. An incomplete last global batch is dropped, padded or wrapped (order.h), so
/// all ranks have the same number of batches.
struct ShardStage {
  static constexpr std::string_view kName = "shard";  ///< name in pipeline texts
  Tail tail = Tail::Drop;                             ///< handling of an incomplete last global batch

  void describe(StageVisitor& visitor);               ///< lists the settings
  [[nodiscard]] Carries gives(Carries before) const;  ///< output kind; ConfigError if the stage cannot take `before`
  friend bool operator==(const ShardStage&, const ShardStage&) = default;
};

}  // namespace roentgen::data
