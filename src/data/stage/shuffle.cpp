// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/shuffle.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/random.h"
#include "data/stage/stage.h"

namespace roentgen::data {
namespace {

/// Takes random elements from a full buffer, as TensorFlow's shuffle does. Without a limit, the buffer holds the whole
/// pass and is permuted at once, so that the order equals epoch_order().
class ShuffleIterator final : public StageIterator {
 public:
  ShuffleIterator(std::int64_t buffer, StageUpstream upstream, const StageContext& context)
      : limit_(static_cast<std::size_t>(buffer)),
        context_(context),
        seed_(context.seed),
        stream_(static_cast<std::uint64_t>(upstream.shuffles)),
        upstream_(std::move(upstream.iterator)),
        random_(seed_, RandomStage::Shuffle, stream_, 0) {}
  void start(std::uint32_t epoch) override {
    upstream_->start(epoch);
    random_ = Random(seed_, RandomStage::Shuffle, stream_, epoch);
    buffer_.clear();
    has_more_ = true;
    is_filled_ = false;
    at_ = 0;
  }

 private:
  bool advance(Element& out) override { return limit_ == 0 ? next_of_all(out) : next_of_buffer(out); }

  bool next_of_all(Element& out) {
    if (!is_filled_) {
      for (Element element; !context_.should_stop() && upstream_->next(element);) {
        buffer_.push_back(std::move(element));
      }
      for (std::size_t i = buffer_.size(); i > 1; --i) std::swap(buffer_[i - 1], buffer_[random_.below(i)]);
      is_filled_ = true;
    }
    if (at_ == buffer_.size()) return false;
    out = std::move(buffer_[at_++]);
    return true;
  }

  bool next_of_buffer(Element& out) {
    while (has_more_ && buffer_.size() < limit_ && !context_.should_stop()) {
      Element element;
      has_more_ = upstream_->next(element);
      if (has_more_) buffer_.push_back(std::move(element));
    }
    if (buffer_.empty()) return false;
    const auto drawn = static_cast<std::size_t>(random_.below(buffer_.size()));
    out = std::move(buffer_[drawn]);
    if (drawn + 1 != buffer_.size()) buffer_[drawn] = std::move(buffer_.back());
    buffer_.pop_back();
    return true;
  }

  const std::size_t limit_;
  const StageContext& context_;
  const std::uint64_t seed_;
  const std::uint64_t stream_;
  const std::unique_ptr<StageIterator> upstream_;
  Random random_;
  std::vector<Element> buffer_;
  bool has_more_ = true;
  bool is_filled_ = false;
  std::size_t at_ = 0;
};

}  // namespace

void ShuffleStage::describe(StageVisitor& visitor) {
  visitor.count({.name = "buffer", .word_for_zero = "all"}, buffer);
}

Carries ShuffleStage::gives(Carries before) const { return passed_on(kName, before); }

std::unique_ptr<StageIterator> make_iterator(const ShuffleStage& stage, StageUpstream upstream,
                                             const StageContext& context) {
  return std::make_unique<ShuffleIterator>(stage.buffer, std::move(upstream), context);
}

}  // namespace roentgen::data
