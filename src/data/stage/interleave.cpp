// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/interleave.h"

#include <utility>
#include <vector>

#include "core/error.h"
#include "data/stage/batch_rows.h"
#include "data/stage/ordered_iterator.h"

namespace roentgen::data {
namespace {

/// The order alone: tf.data's interleave over files.
class InterleaveOrder final : public StageIterator {
 public:
  InterleaveOrder(const InterleaveStage& stage, std::unique_ptr<StageIterator> upstream, const FileTable& files)
      : stage_(stage), upstream_(std::move(upstream)), files_(files) {}
  void start(std::uint32_t epoch) override {
    upstream_->start(epoch);
    open_.clear();
    at_ = 0;
    left_in_block_ = stage_.block;
    has_more_ = true;
  }

 private:
  struct OpenFile {
    std::uint32_t file = 0;
    std::uint32_t epoch = 0;
    std::size_t next = 0;
  };

  bool advance(Element& out) override {
    while (has_more_ && std::ssize(open_) < stage_.cycle) open_next(open_.size());
    while (!open_.empty()) {
      at_ %= open_.size();
      OpenFile& now = open_[at_];
      if (now.next == files_[now.file].size()) {
        // The next file takes the place of the one that ended; where there is none, the circle closes up.
        left_in_block_ = stage_.block;
        if (has_more_) open_next(at_);
        else open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(at_));
        continue;
      }
      out = {.index = files_[now.file][now.next++], .epoch = now.epoch};
      if (--left_in_block_ == 0) {
        left_in_block_ = stage_.block;
        ++at_;
      }
      return true;
    }
    return false;
  }

  /// Puts the next file of the stage before at `place`; where there is none, has_more_ is false and nothing changed.
  void open_next(std::size_t place) {
    Element file;
    has_more_ = upstream_->next(file);
    if (!has_more_) return;
    const OpenFile opened{.file = file.index, .epoch = file.epoch};
    if (place == open_.size()) open_.push_back(opened);
    else open_[place] = opened;
  }

  const InterleaveStage stage_;
  const std::unique_ptr<StageIterator> upstream_;
  const FileTable& files_;
  std::vector<OpenFile> open_;
  std::size_t at_ = 0;
  std::int64_t left_in_block_ = 1;
  bool has_more_ = true;
};

/// Reads what it pulls, one sample at a time.
class ReadIterator final : public StageIterator {
 public:
  ReadIterator(std::unique_ptr<StageIterator> upstream, const StageContext& context)
      : upstream_(std::move(upstream)), context_(context), loader_(context.work->make_loader()) {}
  void start(std::uint32_t epoch) override { upstream_->start(epoch); }

 private:
  bool advance(Element& out) override {
    if (!upstream_->next(out)) return false;
    if (context_.does_work()) context_.work->read(out, loader_);
    return true;
  }

  const std::unique_ptr<StageIterator> upstream_;
  const StageContext& context_;
  SampleLoader loader_;
};

}  // namespace

void InterleaveStage::describe(StageVisitor& visitor) {
  visitor.count({.name = "cycle", .default_value = 1, .greatest = 65536}, cycle);
  visitor.count({.name = "block", .default_value = 1}, block);
  visitor.count({.name = "parallel", .default_value = 1, .greatest = 1024}, parallel);
}

Carries InterleaveStage::gives(Carries before) const {
  return carried(kName, before, {Carries::Files}, Carries::Samples);
}

std::unique_ptr<StageIterator> make_iterator(const InterleaveStage& stage, StageUpstream upstream,
                                             const StageContext& context) {
  RG_ASSERT(context.files != nullptr);
  auto order = std::make_unique<InterleaveOrder>(stage, std::move(upstream.iterator), *context.files);
  if (context.work == nullptr) return order;
  if (stage.parallel == 1) return std::make_unique<ReadIterator>(std::move(order), context);
  const auto make_work = [work = context.work] {
    auto loader = std::make_shared<SampleLoader>(work->make_loader());  // std::function asks for a copyable callable
    return [work, loader](Element& element) { work->read(element, *loader); };
  };
  return std::make_unique<OrderedIterator>(std::move(order), make_work, static_cast<int>(stage.parallel),
                                           stage.parallel, context);
}

}  // namespace roentgen::data
