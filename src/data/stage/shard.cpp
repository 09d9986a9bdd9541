// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/shard.h"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "data/stage/stage.h"

namespace roentgen::data {
namespace {

class FileShardIterator final : public StageIterator {
 public:
  FileShardIterator(std::unique_ptr<StageIterator> upstream, const ShardOptions& shard)
      : upstream_(std::move(upstream)), shard_(shard) {}
  void start(std::uint32_t epoch) override {
    upstream_->start(epoch);
    at_ = 0;
  }

 private:
  bool advance(Element& out) override {
    while (upstream_->next(out)) {
      if (at_++ % shard_.ranks == shard_.rank) return true;
    }
    return false;
  }

  const std::unique_ptr<StageIterator> upstream_;
  const ShardOptions shard_;
  std::int64_t at_ = 0;
};

/// Skips samples that a run with another number of ranks or batch size has already used in this pass.
class UnseenIterator final : public StageIterator {
 public:
  UnseenIterator(std::unique_ptr<StageIterator> upstream, const StageContext& context)
      : upstream_(std::move(upstream)), context_(context) {}
  void start(std::uint32_t epoch) override { upstream_->start(epoch); }

 private:
  bool advance(Element& out) override {
    while (upstream_->next(out)) {
      if (out.epoch != context_.first_epoch || !std::ranges::binary_search(*context_.seen, out.index)) return true;
    }
    return false;
  }

  const std::unique_ptr<StageIterator> upstream_;
  const StageContext& context_;
};

/// Collects one global batch at a time and returns this rank's part, because it must know whether the batch is the last
/// of the epoch. Elements of other ranks are dropped immediately.
class SampleShardIterator final : public StageIterator {
 public:
  SampleShardIterator(std::unique_ptr<StageIterator> upstream, const ShardOptions& shard, const StageContext& context)
      : upstream_(std::move(upstream)), shard_(shard), context_(context) {}
  void start(std::uint32_t epoch) override {
    upstream_->start(epoch);
    piece_.clear();
    first_.clear();
    has_more_ = true;
  }

 private:
  bool advance(Element& out) override {
    if (piece_.empty() && has_more_) gather();
    if (piece_.empty()) return false;
    out = std::move(piece_.front());
    piece_.pop_front();
    return true;
  }

  void gather() {
    const std::int64_t global = shard_.batch * shard_.ranks;
    const std::int64_t begin = shard_.batch * shard_.rank;
    const auto is_mine = [&](std::int64_t place) { return place >= begin && place < begin + shard_.batch; };
    const bool is_first = first_.empty();
    std::int64_t place = 0;
    for (; place < global; ++place) {
      Element element;
      has_more_ = !context_.should_stop() && upstream_->next(element);
      if (!has_more_) break;
      if (shard_.tail == Tail::Wrap && is_first) first_.push_back(element);
      if (is_mine(place)) piece_.push_back(std::move(element));
    }
    if (place == global) return;
    if (place == 0 || shard_.tail == Tail::Drop) {
      piece_.clear();
      return;
    }
    for (std::int64_t missing = 0; place < global; ++place, ++missing) {
      if (!is_mine(place)) continue;
      piece_.push_back(shard_.tail == Tail::Wrap ? first_[static_cast<std::size_t>(missing) % first_.size()]
                                                 : Element{.is_padding = true});
    }
  }

  const std::unique_ptr<StageIterator> upstream_;
  const ShardOptions shard_;
  const StageContext& context_;
  std::deque<Element> piece_;
  /// First global batch of the pass, used to fill the last batch if the tail is wrapped.
  std::vector<Element> first_;
  bool has_more_ = true;
};

}  // namespace

void ShardStage::describe(StageVisitor& visitor) {
  int index = static_cast<int>(tail);
  visitor.word("tail", index, static_cast<int>(Tail::Drop),
               {name_of(Tail::Pad), name_of(Tail::Drop), name_of(Tail::Wrap)});
  tail = static_cast<Tail>(index);
}

Carries ShardStage::gives(Carries before) const { return passed_on(kName, before); }

std::unique_ptr<StageIterator> make_iterator(const ShardStage& stage, StageUpstream upstream,
                                             const StageContext& context) {
  if (upstream.carries == Carries::Files) {
    return std::make_unique<FileShardIterator>(std::move(upstream.iterator), context.shard);
  }
  if (context.seen != nullptr) {
    upstream.iterator = std::make_unique<UnseenIterator>(std::move(upstream.iterator), context);
  }
  ShardOptions shard = context.shard;
  shard.tail = stage.tail;
  return std::make_unique<SampleShardIterator>(std::move(upstream.iterator), shard, context);
}

}  // namespace roentgen::data
