// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/take.h"

#include <utility>

#include "data/stage/stage.h"

namespace roentgen::data {
namespace {

class TakeIterator final : public StageIterator {
 public:
  TakeIterator(std::int64_t count, std::unique_ptr<StageIterator> upstream)
      : count_(count), upstream_(std::move(upstream)) {}
  void start(std::uint32_t epoch) override {
    left_ = count_;
    upstream_->start(epoch);
  }

 private:
  bool advance(Element& out) override {
    if (left_ == 0 || !upstream_->next(out)) return false;
    --left_;
    return true;
  }

  const std::int64_t count_;
  const std::unique_ptr<StageIterator> upstream_;
  std::int64_t left_ = 0;
};

}  // namespace

void TakeStage::describe(StageVisitor& visitor) { visitor.count({.name = "count", .default_value = -1}, count); }

Carries TakeStage::gives(Carries before) const { return passed_on(kName, before); }

std::unique_ptr<StageIterator> make_iterator(const TakeStage& stage, StageUpstream upstream,
                                             const StageContext& /*context*/) {
  return std::make_unique<TakeIterator>(stage.count, std::move(upstream.iterator));
}

}  // namespace roentgen::data
