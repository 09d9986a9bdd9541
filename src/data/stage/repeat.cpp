// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/repeat.h"

#include <utility>

#include "core/error.h"
#include "data/stage/stage.h"

namespace roentgen::data {
namespace {

class RepeatIterator final : public StageIterator {
 public:
  RepeatIterator(std::uint32_t times, std::uint32_t first, std::unique_ptr<StageIterator> upstream)
      : times_(times), first_(first), upstream_(std::move(upstream)) {}
  void start(std::uint32_t epoch) override {
    pass_ = epoch * times_ + first_;
    left_ = times_ == 0 ? 0 : times_ - first_;
    has_given_ = false;
    upstream_->start(pass_);
  }

 private:
  bool advance(Element& out) override {
    while (true) {
      if (upstream_->next(out)) {
        has_given_ = true;
        return true;
      }
      // A pass without elements would be repeated forever.
      if (!has_given_ || left_ == 1) return false;
      if (left_ > 1) --left_;
      has_given_ = false;
      upstream_->start(++pass_);
    }
  }

  /// Number of passes; 0: endless.
  const std::uint32_t times_;
  const std::uint32_t first_;
  const std::unique_ptr<StageIterator> upstream_;
  std::uint32_t pass_ = 0;
  std::uint32_t left_ = 0;
  bool has_given_ = false;
};

}  // namespace

void RepeatStage::describe(StageVisitor& visitor) {
  visitor.count({.name = "times", .word_for_zero = "forever"}, times);
}

Carries RepeatStage::gives(Carries before) const { return passed_on(kName, before); }

std::unique_ptr<StageIterator> make_iterator(const RepeatStage& stage, StageUpstream upstream,
                                             const StageContext& context) {
  const auto times = stage.times == 0 ? context.epochs : static_cast<std::uint32_t>(stage.times);
  return std::make_unique<RepeatIterator>(times, context.first_epoch, std::move(upstream.iterator));
}

}  // namespace roentgen::data
