// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The only list of pipeline stages. To add a stage, write x.h and x.cpp, and add an include and a line here.
#pragma once

#include <variant>

#include "data/stage/batching.h"
#include "data/stage/cache.h"
#include "data/stage/files.h"
#include "data/stage/interleave.h"
#include "data/stage/map.h"
#include "data/stage/prefetch.h"
#include "data/stage/repeat.h"
#include "data/stage/samples.h"
#include "data/stage/shard.h"
#include "data/stage/shuffle.h"
#include "data/stage/skip.h"
#include "data/stage/take.h"

#define RG_STAGES(X)  \
  X(FilesStage)       \
  X(SamplesStage)     \
  X(ShardStage)       \
  X(ShuffleStage)     \
  X(InterleaveStage)  \
  X(PrefetchStage)    \
  X(RepeatStage)      \
  X(MapStage)         \
  X(BatchStage)       \
  X(MapAndBatchStage) \
  X(CacheStage)       \
  X(TakeStage)        \
  X(SkipStage)

namespace roentgen::data {

/// Variant of all types except the first, which is a placeholder that makes the commas of the list work.
template <typename First, typename... Others>
using VariantOfOthers = std::variant<Others...>;

#define RG_STAGE_ALTERNATIVE(Stage) , Stage
/// Settings of any stage in the list.
using Stage = VariantOfOthers<void RG_STAGES(RG_STAGE_ALTERNATIVE)>;
#undef RG_STAGE_ALTERNATIVE

}  // namespace roentgen::data
