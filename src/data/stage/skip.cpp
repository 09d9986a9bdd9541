// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/skip.h"

#include <utility>

#include "data/stage/stage.h"

namespace roentgen::data {
namespace {

class SkipIterator final : public StageIterator {
 public:
  SkipIterator(std::int64_t count, std::unique_ptr<StageIterator> upstream, const StageContext& context)
      : count_(count), upstream_(std::move(upstream)), context_(context) {}
  void start(std::uint32_t epoch) override {
    left_ = count_;
    upstream_->start(epoch);
  }

 private:
  bool advance(Element& out) override {
    for (; left_ > 0; --left_) {
      if (context_.should_stop() || !upstream_->next(out)) return false;
    }
    return upstream_->next(out);
  }

  const std::int64_t count_;
  const std::unique_ptr<StageIterator> upstream_;
  const StageContext& context_;
  std::int64_t left_ = 0;
};

}  // namespace

void SkipStage::describe(StageVisitor& visitor) { visitor.count({.name = "count", .default_value = -1}, count); }

Carries SkipStage::gives(Carries before) const { return passed_on(kName, before); }

std::unique_ptr<StageIterator> make_iterator(const SkipStage& stage, StageUpstream upstream,
                                             const StageContext& context) {
  return std::make_unique<SkipIterator>(stage.count, std::move(upstream.iterator), context);
}

}  // namespace roentgen::data
