// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/interleave.h"

#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "data/stage/sample_step.h"
#include "data/stage/stage.h"

namespace roentgen::data {
namespace {

/// Order of samples in tf.data's interleave. When a file ends, its position in the cycle is skipped once, and takes the
/// next file in the next round.
class InterleaveOrder final : public StageIterator {
 public:
  InterleaveOrder(const InterleaveStage& stage, std::unique_ptr<StageIterator> upstream, const FileTable& files)
      : stage_(stage), upstream_(std::move(upstream)), files_(files) {}
  void start(std::uint32_t epoch) override {
    upstream_->start(epoch);
    circle_.assign(static_cast<std::size_t>(stage_.cycle), std::nullopt);
    open_ = 0;
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
    while (open_ > 0 || has_more_) {
      auto& now = circle_[at_];
      if (!now && has_more_) open_next(now);
      if (!now) {
        turn();
        continue;
      }
      if (now->next == files_[now->file].size()) {
        now.reset();
        --open_;
        turn();
        continue;
      }
      out = {.index = files_[now->file][now->next++], .epoch = now->epoch, .draw_epoch = now->epoch};
      if (--left_in_block_ == 0) turn();
      return true;
    }
    return false;
  }

  void open_next(std::optional<OpenFile>& place) {
    Element file;
    has_more_ = upstream_->next(file);
    if (!has_more_) return;
    place = OpenFile{.file = file.index, .epoch = file.epoch};
    ++open_;
  }
  void turn() {
    at_ = (at_ + 1) % circle_.size();
    left_in_block_ = stage_.block;
  }

  const InterleaveStage stage_;
  const std::unique_ptr<StageIterator> upstream_;
  const FileTable& files_;
  std::vector<std::optional<OpenFile>> circle_;
  std::int64_t open_ = 0;
  std::size_t at_ = 0;
  std::int64_t left_in_block_ = 1;
  bool has_more_ = true;
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
  return with_step(std::move(order), &RowFiller::read, stage.parallel, context);
}

}  // namespace roentgen::data
