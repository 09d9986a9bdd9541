// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The pool behind Loader. Under one mutex: which batches are open, in order, and which of their rows are claimed and
// done. The unit of work is a row; rows of a batch are written by different workers without a lock, and seen by the
// consumer through the mutex that counts them. A batch is planned, by whichever worker finds a slot free, from
// (seed, epoch, index) only.
#include "data/stage/loader.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <thread>
#include <utility>

#include "core/error.h"
#include "core/thread_annotations.h"
#include "data/stage/batch_rows.h"
#include "data/stage/quarantine.h"
#include "data/stage/sample_loader.h"

namespace roentgen::data {

class Loader::Pool {
 public:
  Pool(const Dataset& dataset, std::vector<std::uint32_t> samples, LoaderOptions options, std::vector<BatchSlot> slots)
      : dataset_(dataset),
        samples_(std::move(samples)),
        options_(std::move(options)),
        slots_(std::move(slots)),
        filler_(dataset_, samples_, options_),
        steps_(data::steps_per_epoch(static_cast<std::int64_t>(samples_.size()), options_.shard)),
        quarantine_(static_cast<std::int64_t>(samples_.size()), options_.max_bad_share, options_.quarantine,
                    options_.known_bad),
        held_(slots_.size()),
        position_(options_.start),
        planned_(options_.start) {
    check();
    stats_.bad = quarantine_.count();
    for (int slot = 0; slot < static_cast<int>(slots_.size()); ++slot) free_slots_.push_back(slot);
    try {
      for (int i = 0; i < options_.workers; ++i) workers_.emplace_back([this] { work(); });
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
  [[nodiscard]] LoaderStats stats() const {
    MutexLock lock(mutex_);
    return stats_;
  }

 private:
  /// A row to be filled; batch is null when the worker is to end.
  struct Claim {
    OpenBatch* batch = nullptr;
    std::int64_t row = 0;
  };

  void check() const;
  void stop();
  void work();
  Claim claim();
  void finish(OpenBatch& batch, const SampleCosts& costs);
  void plan() RG_REQUIRES(mutex_);
  [[nodiscard]] bool is_at_end(const LoaderPosition& position) const {
    return options_.epochs != 0 && position.epoch >= options_.epochs;
  }
  void advance(LoaderPosition& position) const {
    if (++position.batch < steps_) return;
    position.batch = 0;
    ++position.epoch;
  }

  // Constant after construction.
  const Dataset& dataset_;
  const std::vector<std::uint32_t> samples_;
  const LoaderOptions options_;
  const std::vector<BatchSlot> slots_;
  const RowFiller filler_;
  const std::int64_t steps_;

  // Of the consumer's thread.
  Quarantine quarantine_;
  std::vector<std::unique_ptr<OpenBatch>> held_;
  LoaderPosition position_;
  bool has_failed_ = false;

  mutable Mutex mutex_;
  std::condition_variable_any work_;   // a slot is free, or stopping
  std::condition_variable_any ready_;  // a batch is done
  bool stopping_ RG_GUARDED_BY(mutex_) = false;
  std::deque<int> free_slots_ RG_GUARDED_BY(mutex_);
  /// In order of position; the consumer takes from the front.
  std::deque<std::unique_ptr<OpenBatch>> open_ RG_GUARDED_BY(mutex_);
  /// The next batch to plan, and the order of its epoch once known.
  LoaderPosition planned_ RG_GUARDED_BY(mutex_);
  std::optional<std::uint32_t> order_epoch_ RG_GUARDED_BY(mutex_);
  std::vector<std::uint32_t> order_ RG_GUARDED_BY(mutex_);
  LoaderStats stats_ RG_GUARDED_BY(mutex_);
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

void Loader::Pool::stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  workers_.clear();  // joins
}

void Loader::Pool::plan() {
  while (!free_slots_.empty() && !is_at_end(planned_)) {
    if (order_epoch_ != planned_.epoch) {
      const Shuffle shuffle = options_.mode == LoadMode::Training ? Shuffle::Yes : Shuffle::No;
      order_ = epoch_order(static_cast<std::int64_t>(samples_.size()), options_.seed, planned_.epoch, shuffle);
      order_epoch_ = planned_.epoch;
    }
    auto batch = std::make_unique<OpenBatch>();
    batch->slot = free_slots_.front();
    batch->epoch = planned_.epoch;
    batch->index = planned_.batch;
    batch->planned = batch_samples(order_, planned_.batch, options_.shard);
    for (auto& sample : batch->planned) sample = samples_[sample];
    batch->rows.resize(batch->planned.size());
    free_slots_.pop_front();
    open_.push_back(std::move(batch));
    advance(planned_);
  }
}

Loader::Pool::Claim Loader::Pool::claim() {
  MutexLock lock(mutex_);
  while (true) {
    if (stopping_) return {};
    plan();
    for (const auto& batch : open_) {
      if (batch->claimed < options_.shard.batch) return {.batch = batch.get(), .row = batch->claimed++};
    }
    work_.wait(lock);
  }
}

void Loader::Pool::finish(OpenBatch& batch, const SampleCosts& costs) {
  bool is_done = false;
  {
    MutexLock lock(mutex_);
    is_done = ++batch.done == options_.shard.batch;
    stats_.read_s += costs.read_s;
    stats_.decode_s += costs.decode_s;
    stats_.transform_s += costs.transform_s;
    stats_.read_bytes += costs.read_bytes;
    stats_.cached += costs.cached;
  }
  if (is_done) ready_.notify_one();
}

void Loader::Pool::work() {
  try {
    SampleLoader loader(dataset_, options_);
    for (Claim unit = claim(); unit.batch != nullptr; unit = claim()) {
      filler_.fill(*unit.batch, unit.row, slots_[static_cast<std::size_t>(unit.batch->slot)], loader);
      finish(*unit.batch, loader.take_costs());
    }
  } catch (...) {
    {
      MutexLock lock(mutex_);
      error_ = std::current_exception();
    }
    ready_.notify_one();
  }
}

std::optional<Batch> Loader::Pool::next() {
  if (has_failed_ || is_at_end(position_)) return std::nullopt;
  RG_ASSERT(std::any_of(held_.begin(), held_.end(), [](const auto& batch) { return batch == nullptr; }));
  const auto start = std::chrono::steady_clock::now();
  std::unique_ptr<OpenBatch> batch;
  {
    MutexLock lock(mutex_);
    plan();
    while (!error_ && open_.front()->done < options_.shard.batch) ready_.wait(lock);
    if (error_) {
      has_failed_ = true;
      std::rethrow_exception(error_);
    }
    batch = std::move(open_.front());
    open_.pop_front();
    stats_.wait_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    stats_.samples += static_cast<std::int64_t>(batch->rows.size());
  }
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
  advance(position_);
  auto& held = held_[static_cast<std::size_t>(batch->slot)];
  held = std::move(batch);
  return Batch{.slot = held->slot,
               .epoch = held->epoch,
               .index = held->index,
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

}  // namespace roentgen::data
