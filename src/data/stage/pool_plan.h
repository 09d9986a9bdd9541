// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Settings of the Loader's worker pool, derived from the stages that the pool implements.
#pragma once

#include <cstddef>
#include <cstdint>

#include "data/stage/pipeline.h"

namespace roentgen::data {

/// Settings of a worker pool.
struct PoolPlan {
  int workers = 1;
  /// True if the number of workers is tuned (worker_tuner.h).
  bool is_tuned = false;
  /// Largest number of additional threads that wait for storage.
  int readers = 0;
  /// True if the number of readers is tuned (read_tuner.h).
  bool is_read_tuned = false;
  /// Number of finished batches it may hold; 0: it works only while next() waits.
  std::int64_t batches_ahead = 0;
  /// True if the number of finished batches is tuned.
  bool is_prefetch_tuned = false;
  /// True if pulling an element can take as long as reading or mapping it, because an earlier stage reads or maps.
  bool is_work_before = false;
  /// Index of the stage batch or map_and_batch in the pipeline.
  std::size_t batching_stage = 0;
};

/// Limits of a pool, used where the pipeline states none.
struct PoolLimits {
  int workers = 1;
  int readers = 0;
  /// Number of batch slots.
  std::size_t slots = 1;
};
[[nodiscard]] PoolPlan plan_pool(const Pipeline& pipeline, const PoolLimits& limits);

/// True if every pass is a whole number of batches and its order depends only on the number of the pass. This requires
/// that samples are sharded and no later stage reorders, drops, caches or repeats, except for one repeat.
[[nodiscard]] bool has_whole_passes(const Pipeline& pipeline);

}  // namespace roentgen::data
