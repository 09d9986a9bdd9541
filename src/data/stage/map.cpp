// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/map.h"

#include <utility>

#include "data/stage/batch_rows.h"
#include "data/stage/ordered_iterator.h"
#include "data/stage/stage.h"

namespace roentgen::data {
namespace {

/// Maps what it pulls, one sample at a time.
class MapIterator final : public StageIterator {
 public:
  MapIterator(std::unique_ptr<StageIterator> upstream, const StageContext& context)
      : upstream_(std::move(upstream)), context_(context), loader_(context.work->make_loader()) {}
  void start(std::uint32_t epoch) override { upstream_->start(epoch); }

 private:
  bool advance(Element& out) override {
    if (!upstream_->next(out)) return false;
    if (context_.does_work()) context_.work->map(out, loader_);
    return true;
  }

  const std::unique_ptr<StageIterator> upstream_;
  const StageContext& context_;
  SampleLoader loader_;
};

}  // namespace

void MapStage::describe(StageVisitor& visitor) {
  visitor.count({.name = "parallel", .default_value = 1, .greatest = 1024}, parallel);
}

Carries MapStage::gives(Carries before) const { return carried(kName, before, {Carries::Samples}, Carries::Rows); }

std::unique_ptr<StageIterator> make_iterator(const MapStage& stage, StageUpstream upstream,
                                             const StageContext& context) {
  if (context.work == nullptr) return std::move(upstream.iterator);
  if (stage.parallel == 1) return std::make_unique<MapIterator>(std::move(upstream.iterator), context);
  const auto make_work = [work = context.work] {
    auto loader = std::make_shared<SampleLoader>(work->make_loader());  // std::function asks for a copyable callable
    return [work, loader](Element& element) { work->map(element, *loader); };
  };
  return std::make_unique<OrderedIterator>(
      std::move(upstream.iterator), make_work,
      OrderedIterator::Size{.threads = static_cast<int>(stage.parallel), .window = stage.parallel}, context);
}

}  // namespace roentgen::data
