// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/loader.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "data/stage/batch_pool.h"
#include "data/stage/chain.h"
#include "data/stage/pool_plan.h"

namespace roentgen::data {

std::int64_t steps_per_epoch(const Dataset& dataset, const std::vector<std::uint32_t>& samples,
                             const LoaderOptions& options) {
  const Pipeline pipeline = pipeline_of(options);
  const FileTable files = pipeline.is_of_files() ? file_table(dataset, samples) : FileTable{};
  return batches_per_epoch(
      pipeline, {.samples = samples, .files = &files, .seed = options.seed, .shard = options.shard, .epochs = 1});
}

LoaderOptions resume_elsewhere(const Dataset& dataset, const std::vector<std::uint32_t>& samples,
                               const LoaderOptions& then, const LoaderPosition& position, LoaderOptions now) {
  const Pipeline pipeline = pipeline_of(now);
  if (!has_whole_passes(pipeline) || pipeline != pipeline_of(then)) {
    throw ConfigError(error_text("data.loader", "pipeline",
                                 "the pipeline of the earlier run, with each image once per epoch", pipeline.text(),
                                 "resuming with the ranks (processes) and the batch size of the earlier run"));
  }
  if (now.seed != then.seed) {
    throw ConfigError(error_text("data.loader", "seed", fmt::format("{}, as in the earlier run", then.seed),
                                 fmt::format("{}", now.seed), "the seed of the earlier run"));
  }
  const FileTable files = pipeline.is_of_files() ? file_table(dataset, samples) : FileTable{};
  // The earlier run (`then`) may itself be a resumed run that skipped samples. Its batches of this epoch are counted
  // from its own start position.
  const bool is_moved = !then.seen.empty() && then.start.epoch == position.epoch;
  StageContext before{.samples = samples,
                      .files = &files,
                      .seed = then.seed,
                      .shard = then.shard,
                      .epochs = then.epochs,
                      .first_epoch = position.epoch};
  if (is_moved) before.seen = &then.seen;
  now.seen = samples_seen(pipeline, before, position.batch - (is_moved ? then.start.batch : 0), position.epoch);
  if (is_moved) {
    now.seen.insert(now.seen.end(), then.seen.begin(), then.seen.end());
    std::ranges::sort(now.seen);
  }
  StageContext after = before;
  after.shard = now.shard;
  after.seen = nullptr;
  const std::int64_t whole = batches_per_epoch(pipeline, after);
  after.seen = &now.seen;
  after.epochs = position.epoch + 1;
  const std::int64_t rest = elements_per_epoch(pipeline, after) / now.shard.batch;
  now.start = {.epoch = position.epoch, .batch = whole - rest};
  if (rest == 0) {
    now.start = {.epoch = position.epoch + 1, .batch = 0};
    now.seen.clear();
  }
  return now;
}

Loader::Loader(const Dataset& dataset, std::vector<std::uint32_t> samples, LoaderOptions options,
               std::vector<BatchSlot> slots) {
  for (const auto& [what, value] :
       {std::pair<std::string_view, std::int64_t>{"batch", options.shard.batch}, {"workers", options.workers}}) {
    if (value < 1)
      throw ConfigError(error_text("data.loader", what, "at least 1", fmt::format("{}", value), "a larger number"));
  }
  if (options.cache == nullptr && pipeline_of(options).is_kept_on_disk()) {
    throw ConfigError(error_text("data.pipeline", "pipeline, stage cache", "a cache folder for where=disk", "none",
                                 "--cache-dir DIR, or a pipeline without cache"));
  }
  pool_ = std::make_unique<BatchPool>(dataset, std::move(samples), std::move(options), std::move(slots));
}

Loader::~Loader() = default;

std::optional<Batch> Loader::next() { return pool_->next(); }
void Loader::release(int slot) { pool_->release(slot); }
std::int64_t Loader::steps_per_epoch() const { return pool_->steps(); }
LoaderPosition Loader::position() const { return pool_->position(); }
std::vector<std::uint32_t> Loader::bad_samples() const { return pool_->bad_samples(); }
std::vector<FoundBad> Loader::take_found_bad() { return pool_->take_found_bad(); }
void Loader::unite_bad(const std::vector<FoundBad>& found) { pool_->unite_bad(found); }
LoaderStats Loader::stats() const { return pool_->stats(); }
const Pipeline& Loader::pipeline() const { return pool_->pipeline(); }
bool Loader::has_settled() const { return pool_->has_settled(); }
std::vector<StageReport> Loader::report() const { return pool_->report(); }

}  // namespace roentgen::data
