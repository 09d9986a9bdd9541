// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The pool behind Loader: the stages batch, map_and_batch and the prefetch behind them. Under one mutex: which batches
// are open, in order, and which of their rows have an element, are claimed, are done. The unit of work is a row; rows
// of a batch are written by different workers without a lock, and seen by the consumer through the mutex that counts
// them. Elements come from the chain of the stages before (chain.h); one worker at a time pulls, without holding the
// mutex.
#include "data/stage/loader.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <limits>
#include <thread>
#include <utility>

#include "core/error.h"
#include "core/thread_annotations.h"
#include "data/stage/batch_rows.h"
#include "data/stage/chain.h"
#include "data/stage/pool_plan.h"
#include "data/stage/quarantine.h"
#include "data/stage/sample_loader.h"

namespace roentgen::data {
namespace {

Pipeline pipeline_of(const LoaderOptions& options) {
  if (options.pipeline) return *options.pipeline;
  return options.mode == LoadMode::Training ? training_pipeline(options.shard.tail) : evaluation_pipeline();
}

}  // namespace

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
    throw ConfigError(error_text("data.loader", "pipeline", "one that shards samples, and the same as before",
                                 pipeline.text(), "as many ranks and as large batches as before"));
  }
  const FileTable files = pipeline.is_of_files() ? file_table(dataset, samples) : FileTable{};
  const StageContext before{.samples = samples,
                            .files = &files,
                            .seed = then.seed,
                            .shard = then.shard,
                            .epochs = then.epochs,
                            .first_epoch = position.epoch};
  now.seen = samples_seen(pipeline, before, position.batch, position.epoch);
  StageContext after = before;
  after.shard = now.shard;
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

class Loader::Pool {
 public:
  Pool(const Dataset& dataset, std::vector<std::uint32_t> samples, LoaderOptions options, std::vector<BatchSlot> slots)
      : samples_(std::move(samples)),
        options_(std::move(options)),
        slots_(std::move(slots)),
        pipeline_(pipeline_of(options_)),
        filler_(dataset, samples_, options_),
        files_(pipeline_.is_of_files() ? file_table(dataset, samples_) : FileTable{}),
        context_{.samples = samples_,
                 .files = &files_,
                 .seed = options_.seed,
                 .shard = options_.shard,
                 .epochs = options_.epochs,
                 .work = &filler_,
                 .is_winding = &is_winding_},
        steps_(batches_per_epoch(pipeline_, context_)),
        plan_(plan_pool(pipeline_, options_.workers, slots_.size())),
        quarantine_(static_cast<std::int64_t>(samples_.size()), options_.max_bad_share, options_.quarantine,
                    options_.known_bad),
        held_(slots_.size()),
        position_(options_.start) {
    check();
    total_ = total_steps();
    wind();
    stats_.bad = quarantine_.count();
    for (int slot = 0; slot < static_cast<int>(slots_.size()); ++slot) free_slots_.push_back(slot);
    try {
      for (int i = 0; i < plan_.workers; ++i) workers_.emplace_back([this] { work(); });
    } catch (...) {
      stop();
      throw;
    }
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() { stop(); }

  std::optional<Batch> next();
  void release(int slot);
  [[nodiscard]] std::int64_t steps() const { return steps_; }
  [[nodiscard]] LoaderPosition position() const { return position_; }
  [[nodiscard]] std::vector<std::uint32_t> bad_samples() const { return quarantine_.samples(); }
  [[nodiscard]] LoaderStats stats() const;
  [[nodiscard]] const Pipeline& pipeline() const { return pipeline_; }
  [[nodiscard]] std::vector<StageReport> report() const;

 private:
  /// A row to be filled; batch is null when the worker is to end.
  struct Claim {
    OpenBatch* batch = nullptr;
    std::int64_t row = 0;
  };

  void check() const;
  [[nodiscard]] std::int64_t total_steps() const;
  void wind();
  void stop();
  void work();
  Claim claim();
  void finish(OpenBatch& batch);
  [[nodiscard]] bool can_pull() const RG_REQUIRES(mutex_);
  void pull(MutexLock& lock) RG_REQUIRES(mutex_);
  std::unique_ptr<OpenBatch> take_front();
  [[nodiscard]] std::int64_t number_of(const LoaderPosition& position) const {
    return position.epoch * steps_ + position.batch;
  }
  [[nodiscard]] LoaderPosition position_of(std::int64_t number) const {
    return {.epoch = static_cast<std::uint32_t>(number / steps_), .batch = number % steps_};
  }

  // Constant after construction.
  const std::vector<std::uint32_t> samples_;
  const LoaderOptions options_;
  const std::vector<BatchSlot> slots_;
  const Pipeline pipeline_;
  const RowFiller filler_;
  const FileTable files_;
  bool is_winding_ = false;
  StageContext context_;
  const std::int64_t steps_;
  const PoolPlan plan_;
  /// Batches of all epochs.
  std::int64_t total_ = 0;

  // Of the consumer's thread.
  Quarantine quarantine_;
  std::vector<std::unique_ptr<OpenBatch>> held_;
  LoaderPosition position_;
  bool has_failed_ = false;

  /// Of the worker that pulls.
  std::unique_ptr<Chain> chain_;

  mutable Mutex mutex_;
  std::condition_variable_any work_;   // an element was placed, a slot is free, a batch is asked for, or stopping
  std::condition_variable_any ready_;  // a batch is done
  bool stopping_ RG_GUARDED_BY(mutex_) = false;
  bool is_pulling_ RG_GUARDED_BY(mutex_) = false;
  bool is_awaited_ RG_GUARDED_BY(mutex_) = false;
  std::deque<int> free_slots_ RG_GUARDED_BY(mutex_);
  /// In order; the consumer takes from the front. All but the last have all their elements.
  std::deque<std::unique_ptr<OpenBatch>> open_ RG_GUARDED_BY(mutex_);
  /// Numbers of the next batch to open and of the next to give.
  std::int64_t opened_ RG_GUARDED_BY(mutex_) = 0;
  std::int64_t taken_ RG_GUARDED_BY(mutex_) = 0;
  LoaderStats stats_ RG_GUARDED_BY(mutex_);
  StageMeter meter_ RG_GUARDED_BY(mutex_);
  /// Why a worker ended early, outside of any row (memory, say).
  std::exception_ptr error_ RG_GUARDED_BY(mutex_);

  std::vector<std::jthread> workers_;  // last: joined before anything they use goes
};

void Loader::Pool::check() const {
  const auto refuse = [](std::string_view what, std::string_view expected, const std::string& got) {
    throw ConfigError(error_text("data.loader", what, expected, got, "more images, or a smaller train.batch"));
  };
  if (samples_.empty()) refuse("samples", "at least 1", "none");
  if (slots_.empty()) refuse("slots", "at least 1", "none");
  if (steps_ == 0) {
    refuse("samples", fmt::format("at least a batch of {} on {} ranks", options_.shard.batch, options_.shard.ranks),
           fmt::format("{}", samples_.size()));
  }
  if (options_.start.batch < 0 || options_.start.batch >= steps_) {
    refuse("start", fmt::format("a batch below {}", steps_), fmt::format("{}", options_.start.batch));
  }
  for (const auto& slot : slots_) filler_.check(slot);
}

std::int64_t Loader::Pool::total_steps() const {
  std::int64_t passes = 1;
  for (const Stage& stage : pipeline_.stages()) {
    const auto* repeat = std::get_if<RepeatStage>(&stage);
    if (repeat == nullptr) continue;
    const std::int64_t times = repeat->times == 0 ? options_.epochs : repeat->times;
    if (times == 0) return std::numeric_limits<std::int64_t>::max();
    passes *= times;
  }
  return passes * steps_;
}

// To where the run left off. Where passes are whole numbers of batches, a repeat begins with the pass; elements before
// the position in it (else all before it) are pulled and let go, without work.
void Loader::Pool::wind() {
  opened_ = taken_ = number_of(options_.start);
  std::int64_t batches = opened_;
  if (has_whole_passes(pipeline_) && opened_ < total_) {
    context_.first_epoch = options_.start.epoch;
    batches = options_.start.batch;
  }
  if (!options_.seen.empty()) {
    context_.seen = &options_.seen;
    batches = 0;
  }
  chain_ = std::make_unique<Chain>(pipeline_, context_);
  is_winding_ = true;
  Element element;
  for (std::int64_t i = 0; i < batches * options_.shard.batch && chain_->next(element);) ++i;
  is_winding_ = false;
}

void Loader::Pool::stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  workers_.clear();  // joins
}

bool Loader::Pool::can_pull() const {
  if (is_pulling_) return false;
  if (!open_.empty() && open_.back()->placed < options_.shard.batch) return true;
  const std::int64_t ahead = std::max<std::int64_t>(plan_.batches_ahead, is_awaited_ ? 1 : 0);
  return opened_ < total_ && !free_slots_.empty() && opened_ - taken_ < ahead;
}

void Loader::Pool::pull(MutexLock& lock) {
  const std::int64_t rows = options_.shard.batch;
  if (open_.empty() || open_.back()->placed == rows) {
    auto batch = std::make_unique<OpenBatch>();
    batch->slot = free_slots_.front();
    batch->number = opened_++;
    batch->elements.resize(static_cast<std::size_t>(rows));
    batch->rows.resize(static_cast<std::size_t>(rows));
    free_slots_.pop_front();
    open_.push_back(std::move(batch));
  }
  OpenBatch& batch = *open_.back();
  const std::int64_t begin = batch.placed;
  std::int64_t end = plan_.is_work_before ? begin + 1 : rows;
  is_pulling_ = true;
  lock.unlock();
  for (std::int64_t row = begin; row < end; ++row) {
    Element& element = batch.elements[static_cast<std::size_t>(row)];
    if (chain_->next(element)) continue;
    end = rows;
    element = {.is_padding = true};
  }
  lock.lock();
  is_pulling_ = false;
  batch.placed = end;
  work_.notify_all();
}

Loader::Pool::Claim Loader::Pool::claim() {
  MutexLock lock(mutex_);
  while (true) {
    if (stopping_) return {};
    for (const auto& batch : open_) {
      if (batch->claimed < batch->placed) return {.batch = batch.get(), .row = batch->claimed++};
    }
    if (can_pull()) {
      pull(lock);
      continue;
    }
    if (!is_pulling_ && opened_ < total_) ++meter_.full_waits;
    work_.wait(lock);
  }
}

void Loader::Pool::finish(OpenBatch& batch) {
  bool is_done = false;
  {
    MutexLock lock(mutex_);
    is_done = ++batch.done == options_.shard.batch;
  }
  if (is_done) ready_.notify_one();
}

void Loader::Pool::work() {
  try {
    SampleLoader loader = filler_.make_loader();
    for (Claim unit = claim(); unit.batch != nullptr; unit = claim()) {
      filler_.fill(*unit.batch, unit.row, slots_[static_cast<std::size_t>(unit.batch->slot)], loader);
      finish(*unit.batch);
    }
  } catch (...) {
    {
      MutexLock lock(mutex_);
      error_ = std::current_exception();
      is_pulling_ = false;
    }
    ready_.notify_one();
  }
}

std::unique_ptr<OpenBatch> Loader::Pool::take_front() {
  const auto start = std::chrono::steady_clock::now();
  MutexLock lock(mutex_);
  is_awaited_ = true;
  const auto is_ready = [&](const auto& batch) { return batch->done == options_.shard.batch; };
  meter_.depth_sum += std::ranges::count_if(open_, is_ready);
  if (open_.empty() || !is_ready(open_.front())) ++meter_.empty_waits;
  work_.notify_all();
  while (!error_ && (open_.empty() || !is_ready(open_.front()))) ready_.wait(lock);
  is_awaited_ = false;
  if (error_) {
    has_failed_ = true;
    std::rethrow_exception(error_);
  }
  auto batch = std::move(open_.front());
  open_.pop_front();
  ++taken_;
  ++meter_.items;
  stats_.wait_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  stats_.samples += std::ranges::count_if(batch->elements, [](const Element& one) { return !one.is_padding; });
  work_.notify_all();
  return batch;
}

std::optional<Batch> Loader::Pool::next() {
  if (has_failed_ || number_of(position_) >= total_) return std::nullopt;
  RG_ASSERT(std::any_of(held_.begin(), held_.end(), [](const auto& batch) { return batch == nullptr; }));
  auto batch = take_front();
  try {
    settle(*batch, options_.mode, quarantine_);
  } catch (...) {
    has_failed_ = true;
    throw;
  }
  {
    MutexLock lock(mutex_);
    stats_.bad = quarantine_.count();
  }
  position_ = position_of(batch->number + 1);
  auto& held = held_[static_cast<std::size_t>(batch->slot)];
  held = std::move(batch);
  const LoaderPosition place = position_of(held->number);
  return Batch{.slot = held->slot,
               .epoch = place.epoch,
               .index = place.batch,
               .samples = held->samples,
               .valid = static_cast<std::int64_t>(held->samples.size()),
               .bad = held->bad};
}

void Loader::Pool::release(int slot) {
  RG_ASSERT(slot >= 0 && slot < static_cast<int>(held_.size()));
  auto& held = held_[static_cast<std::size_t>(slot)];
  RG_ASSERT(held != nullptr);
  held.reset();
  {
    MutexLock lock(mutex_);
    free_slots_.push_back(slot);
  }
  work_.notify_all();
}

LoaderStats Loader::Pool::stats() const {
  const SampleCosts costs = filler_.costs();
  MutexLock lock(mutex_);
  LoaderStats stats = stats_;
  stats.read_s = costs.read_s;
  stats.decode_s = costs.decode_s;
  stats.transform_s = costs.transform_s;
  stats.read_bytes = costs.read_bytes;
  stats.cached = costs.cached;
  return stats;
}

std::vector<StageReport> Loader::Pool::report() const {
  std::vector<StageReport> report = chain_->report();
  StageMeter meter;
  {
    MutexLock lock(mutex_);
    meter = meter_;
    meter.pull_s = stats_.wait_s;
  }
  meter.threads = plan_.workers;
  meter.capacity = plan_.batches_ahead;
  report[plan_.batching_stage].meter = meter;
  if (plan_.batching_stage + 1 < report.size()) report.back().meter = meter;
  return report;
}

Loader::Loader(const Dataset& dataset, std::vector<std::uint32_t> samples, LoaderOptions options,
               std::vector<BatchSlot> slots) {
  for (const auto& [what, value] :
       {std::pair<std::string_view, std::int64_t>{"batch", options.shard.batch}, {"workers", options.workers}}) {
    if (value < 1)
      throw ConfigError(error_text("data.loader", what, "at least 1", fmt::format("{}", value), "a larger one"));
  }
  pool_ = std::make_unique<Pool>(dataset, std::move(samples), std::move(options), std::move(slots));
}

Loader::~Loader() = default;

std::optional<Batch> Loader::next() { return pool_->next(); }
void Loader::release(int slot) { pool_->release(slot); }
std::int64_t Loader::steps_per_epoch() const { return pool_->steps(); }
LoaderPosition Loader::position() const { return pool_->position(); }
std::vector<std::uint32_t> Loader::bad_samples() const { return pool_->bad_samples(); }
LoaderStats Loader::stats() const { return pool_->stats(); }
const Pipeline& Loader::pipeline() const { return pool_->pipeline(); }
std::vector<StageReport> Loader::report() const { return pool_->report(); }

}  // namespace roentgen::data
