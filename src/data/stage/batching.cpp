// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/batching.h"

namespace roentgen::data {

void BatchStage::describe(StageVisitor& /*visitor*/) {}

Carries BatchStage::gives(Carries before) const { return carried(kName, before, {Carries::Rows}, Carries::Batches); }

void MapAndBatchStage::describe(StageVisitor& visitor) {
  visitor.count({.name = "parallel", .word_for_zero = "auto", .greatest = 1024}, parallel);
}

Carries MapAndBatchStage::gives(Carries before) const {
  return carried(kName, before, {Carries::Samples}, Carries::Batches);
}

}  // namespace roentgen::data
