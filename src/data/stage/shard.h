// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// shard: each rank keeps its part.
#pragma once

#include <string_view>

#include "data/stage/shard_options.h"
#include "data/stage/stage_options.h"

namespace roentgen::data {

/// Selects this rank's part. Files: every ranks-th. Samples and rows: a part of each global batch, which is batch *
/// ranks consecutive ones. A tail that fills no global batch is dropped, padded or wrapped (order.h), so all ranks have
/// equally many batches.
struct ShardStage {
  static constexpr std::string_view kName = "shard";  ///< name in pipeline texts
  Tail tail = Tail::Drop;                             ///< treatment of samples that fill no global batch

  void describe(StageVisitor& visitor);               ///< lists the settings
  [[nodiscard]] Carries gives(Carries before) const;  ///< kind of its output; ConfigError when `before` does not fit
  friend bool operator==(const ShardStage&, const ShardStage&) = default;
};

}  // namespace roentgen::data
