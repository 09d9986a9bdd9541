// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/batching.h"

#include <utility>

#include "data/stage/stage.h"

namespace roentgen::data {

void BatchStage::describe(StageVisitor& /*visitor*/) {}

Carries BatchStage::gives(Carries before) const { return carried(kName, before, {Carries::Rows}, Carries::Batches); }

void MapAndBatchStage::describe(StageVisitor& visitor) {
  visitor.count({.name = "parallel", .word_for_zero = "auto", .greatest = 1024}, parallel);
  visitor.count({.name = "reads", .word_for_zero = "auto", .greatest = 1024}, reads);
}

Carries MapAndBatchStage::gives(Carries before) const {
  return carried(kName, before, {Carries::Samples}, Carries::Batches);
}

std::unique_ptr<StageIterator> make_iterator(const BatchStage& /*stage*/, StageUpstream upstream,
                                             const StageContext& /*context*/) {
  return std::move(upstream.iterator);
}

std::unique_ptr<StageIterator> make_iterator(const MapAndBatchStage& /*stage*/, StageUpstream upstream,
                                             const StageContext& /*context*/) {
  return std::move(upstream.iterator);
}

}  // namespace roentgen::data
