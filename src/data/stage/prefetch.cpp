// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/prefetch.h"

#include <utility>

#include "data/stage/ordered_iterator.h"
#include "data/stage/stage.h"

namespace roentgen::data {
namespace {

constexpr std::int64_t kElementsAhead = 2;

}  // namespace

void PrefetchStage::describe(StageVisitor& visitor) {
  visitor.count({.name = "count", .word_for_zero = "auto", .greatest = 65536}, count);
}

Carries PrefetchStage::gives(Carries before) const {
  return carried(kName, before, {Carries::Files, Carries::Samples, Carries::Rows, Carries::Batches}, before);
}

std::unique_ptr<StageIterator> make_iterator(const PrefetchStage& stage, StageUpstream upstream,
                                             const StageContext& context) {
  if (context.work == nullptr || upstream.carries == Carries::Batches) return std::move(upstream.iterator);
  const auto make_work = [] { return [](Element& /*element*/) {}; };
  return std::make_unique<OrderedIterator>(
      std::move(upstream.iterator), make_work,
      OrderedIterator::Size{.window = stage.count == 0 ? kElementsAhead : stage.count}, context);
}

}  // namespace roentgen::data
