// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Gradient buckets as ranks send them, and their parts of the update.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/engine.h"

namespace roentgen::train {

/// Neighbouring buckets of an executable that are sent together.
struct SentBucket {
  engine::Bucket place;   ///< range of the arena
  std::int64_t last = 0;  ///< number of the executable's last bucket in it
};

/// Joins neighbouring buckets until each has at least `bytes` bytes; the last may be smaller.
[[nodiscard]] std::vector<SentBucket> join_buckets(const std::vector<engine::Bucket>& buckets, std::size_t bytes);

/// Splits `ranges` at bucket borders; returns the ranges of each bucket.
[[nodiscard]] std::vector<std::vector<engine::UpdateRange>> ranges_by_bucket(
    const std::vector<engine::UpdateRange>& ranges, const std::vector<engine::Bucket>& buckets);

}  // namespace roentgen::train
