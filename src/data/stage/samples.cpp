// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/samples.h"

#include "data/stage/names_iterator.h"

namespace roentgen::data {

void SamplesStage::describe(StageVisitor& /*visitor*/) {}

Carries SamplesStage::gives(Carries before) const {
  return carried(kName, before, {Carries::Nothing}, Carries::Samples);
}

std::unique_ptr<StageIterator> make_iterator(const SamplesStage& /*stage*/, StageUpstream /*upstream*/,
                                             const StageContext& context) {
  return std::make_unique<NamesIterator>(context.samples.size(), context.samples);
}

}  // namespace roentgen::data
