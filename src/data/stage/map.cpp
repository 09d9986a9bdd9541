// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/map.h"

#include <utility>

#include "data/stage/sample_step.h"
#include "data/stage/stage.h"

namespace roentgen::data {

void MapStage::describe(StageVisitor& visitor) {
  visitor.count({.name = "parallel", .default_value = 1, .greatest = 1024}, parallel);
}

Carries MapStage::gives(Carries before) const { return carried(kName, before, {Carries::Samples}, Carries::Rows); }

std::unique_ptr<StageIterator> make_iterator(const MapStage& stage, StageUpstream upstream,
                                             const StageContext& context) {
  if (context.work == nullptr) return std::move(upstream.iterator);
  return with_step(std::move(upstream.iterator), &RowFiller::map, stage.parallel, context);
}

}  // namespace roentgen::data
