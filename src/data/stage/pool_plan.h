// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Settings of the Loader's pool that follow from the stages after the elements.
#pragma once

#include <cstddef>
#include <cstdint>

#include "data/stage/pipeline.h"

namespace roentgen::data {

/// Mode of operation of a Loader.
struct PoolPlan {
  int workers = 1;
  /// Whether to use only as many as needed (worker_tuner.h).
  bool is_tuned = false;
  /// Largest number of extra threads that wait for storage.
  int readers = 0;
  /// Whether to use only as many readers as needed (read_tuner.h).
  bool is_read_tuned = false;
  /// Finished batches it may hold; 0: it works while next() waits.
  std::int64_t batches_ahead = 0;
  /// Whether to hold only as many as needed.
  bool is_prefetch_tuned = false;
  /// Pulling an element can take as long as reading or mapping it.
  bool is_work_before = false;
  /// Index of batch or map_and_batch among the stages.
  std::size_t batching_stage = 0;
};

/// Limits of a pool where its pipeline names none.
struct PoolLimits {
  int workers = 1;
  int readers = 0;
  /// Batches that can be held.
  std::size_t slots = 1;
};
[[nodiscard]] PoolPlan plan_pool(const Pipeline& pipeline, const PoolLimits& limits);

/// Whether every pass is a whole number of batches whose order is a function of the pass alone. This holds where
/// samples are sharded and no later stage reorders, leaves out, keeps or repeats, except for one repeat.
[[nodiscard]] bool has_whole_passes(const Pipeline& pipeline);

}  // namespace roentgen::data
