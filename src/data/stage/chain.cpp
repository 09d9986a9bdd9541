// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/chain.h"

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/error.h"

namespace roentgen::data {
namespace {

std::unique_ptr<StageIterator> iterator_of(const Stage& stage, StageUpstream upstream, const StageContext& context) {
  return std::visit([&](const auto& one) { return make_iterator(one, std::move(upstream), context); }, stage);
}

StageContext order_of(const StageContext& context, int rank, std::uint32_t epochs) {
  StageContext order = context;
  order.work = nullptr;
  order.is_winding = nullptr;
  order.shard.rank = rank;
  order.epochs = epochs;
  return order;
}

}  // namespace

bool has_repeat(const Pipeline& pipeline) {
  return std::ranges::any_of(pipeline.stages(),
                             [](const Stage& stage) { return std::holds_alternative<RepeatStage>(stage); });
}

FileTable file_table(const Dataset& dataset, const std::vector<std::uint32_t>& samples) {
  FileTable files;
  std::unordered_map<std::string, std::size_t> known;
  for (const std::uint32_t sample : samples) {
    const auto [at, is_new] = known.try_emplace(dataset.samples.at(sample).path.native(), files.size());
    if (is_new) files.emplace_back();
    files[at->second].push_back(sample);
  }
  return files;
}

Chain::Chain(const Pipeline& pipeline, const StageContext& context) {
  StageUpstream upstream;
  int shuffles = 0;
  for (const Stage& stage : pipeline.stages()) {
    const Carries carries = gives(stage, upstream.carries);
    const StageIterator* before = upstream.iterator.get();
    auto iterator = iterator_of(stage, std::move(upstream), context);
    stages_.emplace_back(text_of(stage), iterator.get() == before ? nullptr : iterator.get());
    shuffles += std::holds_alternative<ShuffleStage>(stage) ? 1 : 0;
    upstream = {.iterator = std::move(iterator), .carries = carries, .shuffles = shuffles};
  }
  last_ = std::move(upstream.iterator);
  RG_ASSERT(last_ != nullptr);
  last_->start(0);
}

std::vector<StageReport> Chain::report() const {
  std::vector<StageReport> report;
  for (const auto& [text, stage] : stages_) {
    report.push_back({.stage = text, .meter = stage == nullptr ? StageMeter{} : stage->meter()});
  }
  return report;
}

std::int64_t elements_per_epoch(const Pipeline& pipeline, const StageContext& context) {
  const StageContext order = order_of(context, context.shard.rank, context.first_epoch + 1);
  std::vector<Stage> stages = pipeline.stages();
  for (Stage& stage : stages) {
    if (auto* repeat = std::get_if<RepeatStage>(&stage)) repeat->times = context.first_epoch + 1;
  }
  Chain chain(Pipeline(std::move(stages)), order);
  std::int64_t count = 0;
  for (Element element; chain.next(element);) ++count;
  return count;
}

std::int64_t batches_per_epoch(const Pipeline& pipeline, const StageContext& context) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = 0;
  for (int rank = 0; rank < context.shard.ranks; ++rank) {
    StageContext one = context;
    one.shard.rank = rank;
    const std::int64_t count = elements_per_epoch(pipeline, one);
    least = std::min(least, count);
    most = std::max(most, count);
  }
  const std::int64_t batch = context.shard.batch;
  if (!has_repeat(pipeline)) return (most + batch - 1) / batch;
  return least / batch;
}

std::vector<std::uint32_t> samples_seen(const Pipeline& pipeline, const StageContext& context, std::int64_t batches,
                                        std::uint32_t epoch) {
  std::set<std::uint32_t> seen;
  for (int rank = 0; rank < context.shard.ranks; ++rank) {
    const StageContext order = order_of(context, rank, context.epochs);
    Chain chain(pipeline, order);
    Element element;
    for (std::int64_t i = 0; i < batches * context.shard.batch && chain.next(element); ++i) {
      if (element.epoch == epoch && !element.is_padding) seen.insert(element.index);
    }
  }
  return {seen.begin(), seen.end()};
}

}  // namespace roentgen::data
