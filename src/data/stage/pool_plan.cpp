// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/pool_plan.h"

#include <algorithm>
#include <variant>

namespace roentgen::data {

PoolPlan plan_pool(const Pipeline& pipeline, const PoolLimits& limits) {
  PoolPlan plan;
  const auto most = static_cast<std::int64_t>(limits.slots);
  bool is_batched = false;
  for (std::size_t i = 0; i < pipeline.stages().size(); ++i) {
    const Stage& stage = pipeline.stages()[i];
    if (std::holds_alternative<MapStage>(stage) || std::holds_alternative<InterleaveStage>(stage)) {
      plan.is_work_before = true;
    }
    if (const auto* batching = std::get_if<MapAndBatchStage>(&stage)) {
      plan.is_tuned = batching->parallel == 0;
      plan.workers = plan.is_tuned ? limits.workers : static_cast<int>(batching->parallel);
      plan.is_read_tuned = batching->reads == 0;
      const auto readers = static_cast<int>(batching->reads) - plan.workers;
      plan.readers = plan.is_read_tuned ? limits.readers : std::max(readers, 0);
      plan.batching_stage = i;
      is_batched = true;
    }
    if (std::holds_alternative<BatchStage>(stage)) {
      plan.batching_stage = i;
      is_batched = true;
    }
    const auto* prefetch = std::get_if<PrefetchStage>(&stage);
    if (is_batched && prefetch != nullptr) {
      plan.is_prefetch_tuned = prefetch->count == 0;
      plan.batches_ahead = prefetch->count == 0 ? most : std::min(plan.batches_ahead + prefetch->count, most);
    }
  }
  if (plan.is_work_before) {  // elements already contain their files' bytes
    plan.readers = 0;
    plan.is_read_tuned = false;
  }
  return plan;
}

bool has_whole_passes(const Pipeline& pipeline) {
  bool is_sharded = false, is_repeated = false;
  Carries carries = Carries::Nothing;
  for (const Stage& stage : pipeline.stages()) {
    if (std::holds_alternative<RepeatStage>(stage)) {
      if (is_repeated || !is_sharded) return false;
      is_repeated = true;
    }
    const auto* cache = std::get_if<CacheStage>(&stage);
    const bool is_other = std::holds_alternative<TakeStage>(stage) || std::holds_alternative<SkipStage>(stage) ||
                          (cache != nullptr && cache->where == CachePlace::Memory);
    if (is_sharded && is_other) return false;
    if (is_repeated && std::holds_alternative<ShuffleStage>(stage)) return false;
    if (std::holds_alternative<ShardStage>(stage)) is_sharded = carries != Carries::Files;
    carries = gives(stage, carries);
  }
  return is_sharded;
}

}  // namespace roentgen::data
