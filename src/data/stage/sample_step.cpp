// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/sample_step.h"

#include <utility>

#include "core/error.h"
#include "data/stage/ordered_iterator.h"

namespace roentgen::data {
namespace {

/// Works on what it pulls, one sample at a time.
class StepIterator final : public StageIterator {
 public:
  StepIterator(std::unique_ptr<StageIterator> upstream, SampleStep step, const StageContext& context)
      : upstream_(std::move(upstream)), step_(step), context_(context), loader_(context.work->make_loader()) {}
  void start(std::uint32_t epoch) override { upstream_->start(epoch); }

 private:
  bool advance(Element& out) override {
    if (!upstream_->next(out)) return false;
    if (context_.does_work()) (context_.work->*step_)(out, loader_);
    return true;
  }

  const std::unique_ptr<StageIterator> upstream_;
  const SampleStep step_;
  const StageContext& context_;
  SampleLoader loader_;
};

}  // namespace

std::unique_ptr<StageIterator> with_step(std::unique_ptr<StageIterator> upstream, SampleStep step,
                                         std::int64_t parallel, const StageContext& context) {
  RG_ASSERT(context.work != nullptr);
  if (parallel == 1) return std::make_unique<StepIterator>(std::move(upstream), step, context);
  const auto make_work = [work = context.work, step] {
    auto loader = std::make_shared<SampleLoader>(work->make_loader());  // std::function asks for a copyable callable
    return [work, step, loader](Element& element) { (work->*step)(element, *loader); };
  };
  return std::make_unique<OrderedIterator>(
      std::move(upstream), make_work, OrderedIterator::Size{.threads = static_cast<int>(parallel), .window = parallel},
      context);
}

}  // namespace roentgen::data
