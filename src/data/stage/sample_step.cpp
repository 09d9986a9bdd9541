// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/sample_step.h"

#include <atomic>
#include <chrono>
#include <utility>

#include "core/error.h"
#include "data/stage/ordered_iterator.h"

namespace roentgen::data {
namespace {

/// Pulls one sample at a time and applies the work to it.
class StepIterator final : public StageIterator {
 public:
  StepIterator(std::unique_ptr<StageIterator> upstream, SampleStep step, const StageContext& context)
      : upstream_(std::move(upstream)), step_(step), context_(context), loader_(context.work->make_loader()) {}
  void start(std::uint32_t epoch) override { upstream_->start(epoch); }

 private:
  bool advance(Element& out) override {
    if (!upstream_->next(out)) return false;
    if (!context_.does_work()) return true;
    const auto begin = std::chrono::steady_clock::now();
    (context_.work->*step_)(out, loader_);
    busy_ns_.fetch_add((std::chrono::steady_clock::now() - begin).count(), std::memory_order_relaxed);
    return true;
  }
  [[nodiscard]] StageMeter own_meter() const override {
    return {.busy_s = 1e-9 * static_cast<double>(busy_ns_.load(std::memory_order_relaxed)), .threads = 1};
  }

  const std::unique_ptr<StageIterator> upstream_;
  const SampleStep step_;
  const StageContext& context_;
  SampleLoader loader_;
  std::atomic<std::int64_t> busy_ns_ = 0;
};

}  // namespace

std::unique_ptr<StageIterator> with_step(std::unique_ptr<StageIterator> upstream, SampleStep step,
                                         std::int64_t parallel, const StageContext& context) {
  RG_ASSERT(context.work != nullptr);
  if (parallel == 1) return std::make_unique<StepIterator>(std::move(upstream), step, context);
  const auto make_work = [work = context.work, step] {
    auto loader = std::make_shared<SampleLoader>(work->make_loader());  // std::function needs a copyable callable
    return [work, step, loader](Element& element) { (work->*step)(element, *loader); };
  };
  return std::make_unique<OrderedIterator>(
      std::move(upstream), make_work, OrderedIterator::Size{.threads = static_cast<int>(parallel), .window = parallel},
      context);
}

}  // namespace roentgen::data
