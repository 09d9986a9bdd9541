// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/batch_pool.h"

#include <fmt/core.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <system_error>
#include <utility>
#include <variant>

#include "core/error.h"
#include "core/log.h"
#include "data/stage/sample_loader.h"
#include "runtime/core_list.h"

namespace roentgen::data {
namespace {

double seconds(std::chrono::steady_clock::duration time) { return std::chrono::duration<double>(time).count(); }

// CPU seconds of the calling thread.
double core_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Reading a thread's CPU time is a system call, so only one row in kTimedRow is measured.
constexpr std::int64_t kTimedRow = 8;

// Number of rows that each measured row of a batch represents.
double rows_each(std::int64_t batch) {
  const std::int64_t timed = (batch + kTimedRow - 1) / kTimedRow;
  return static_cast<double>(batch) / static_cast<double>(timed);
}

}  // namespace

Pipeline pipeline_of(const LoaderOptions& options) {
  if (options.pipeline) return *options.pipeline;
  return options.mode == LoadMode::Training ? training_pipeline(options.shard.tail) : evaluation_pipeline();
}

BatchPool::BatchPool(const Dataset& dataset, std::vector<std::uint32_t> samples, LoaderOptions options,
                     std::vector<BatchSlot> slots)
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
               .epochs = 0,  // total_steps() limits the run instead
               .work = &filler_,
               .is_winding = &is_winding_,
               .is_stopping = &is_stopping_},
      steps_(batches_per_epoch(pipeline_, context_)),
      plan_(plan_pool(pipeline_,
                      {.workers = options_.workers, .readers = options_.most_readers, .slots = slots_.size()})),
      quarantine_(static_cast<std::int64_t>(samples_.size()), options_.max_bad_share, options_.quarantine,
                  options_.known_bad),
      held_(slots_.size()),
      position_(options_.start),
      tuner_(plan_),
      permits_(plan_.workers, plan_.workers + plan_.readers),
      active_(tuner_.workers()),
      readers_(tuner_.readers()),
      ahead_(tuner_.ahead()) {
  check();
  total_ = total_steps();
  for (int permit = 0; permit < plan_.workers; ++permit) loaders_.push_back(filler_.make_loader());
  const runtime::BoundToCores bound(options_.cores);
  wind();
  stats_.bad = quarantine_.count();
  for (int slot = 0; slot < static_cast<int>(slots_.size()); ++slot) free_slots_.push_back(slot);
  try {
    start_threads();
  } catch (...) {
    stop();
    throw;
  }
}

void BatchPool::check() const {
  const bool shares_files = options_.shard.ranks > 1 && pipeline_.is_of_files();  // a rank may have no file
  const char* remedy = shares_files ? "a file per process, or train.pipeline=default" : "a smaller train.batch";
  const auto refuse = [remedy](std::string_view what, std::string_view expected, const std::string& got) {
    throw ConfigError(error_text("data.loader", what, expected, got, fmt::format("more images, or {}", remedy)));
  };
  if (samples_.empty()) refuse("images", "at least 1", "none");
  if (slots_.empty()) refuse("batch buffers", "at least 1", "none");
  if (steps_ == 0) {
    refuse("images",
           fmt::format("at least one batch of {} images{}", options_.shard.batch,
                       options_.shard.ranks == 1 ? "" : fmt::format(" for each of {} processes", options_.shard.ranks)),
           fmt::format("{}", samples_.size()));
  }
  if (options_.start.batch < 0 || options_.start.batch >= steps_) {
    refuse("start", fmt::format("a batch number below {}", steps_), fmt::format("{}", options_.start.batch));
  }
  for (const auto& slot : slots_) filler_.check(slot);
}

std::int64_t BatchPool::total_steps() const {
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

// Moves to the start position of a resumed run by pulling elements without reading or decoding them. If a pass is a
// whole number of batches, begins with the current pass, otherwise with the first.
void BatchPool::wind() {
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

void BatchPool::stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  is_stopping_ = true;
  work_.notify_all();
  threads_.clear();  // joins the threads
}

void BatchPool::start_threads() {
  const int begin = static_cast<int>(threads_.size()), end = plan_.workers + tuner_.readers();
  if (begin >= end) return;
  const runtime::BoundToCores bound(options_.cores);
  try {
    for (int i = begin; i < end; ++i) threads_.emplace_back([this, i] { work(i); });
  } catch (const std::system_error& error) {
    const int readers = static_cast<int>(threads_.size()) - plan_.workers;
    if (readers < 0) throw;  // decoding threads are required
    log::warning(fmt::format("only {} threads read files ahead, because the system allows no more threads ({})",
                             readers, error.code().message()));
    tuner_.limit_readers(readers);
  }
}

bool BatchPool::can_pull() const {
  if (is_pulling_ || error_) return false;
  if (!open_.empty() && open_.back()->placed < options_.shard.batch) return true;
  const std::int64_t ahead = std::max<std::int64_t>(ahead_, is_awaited_ ? 1 : 0);
  return opened_ < total_ && !free_slots_.empty() && opened_ - taken_ < ahead;
}

void BatchPool::pull(MutexLock& lock) {
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
  try {
    for (std::int64_t row = begin; row < end; ++row) {
      Element& element = batch.elements[static_cast<std::size_t>(row)];
      if (chain_->next(element)) continue;
      end = rows;
      element = {.is_padding = true};
    }
  } catch (...) {
    lock.lock();
    is_pulling_ = false;
    throw;
  }
  lock.lock();
  is_pulling_ = false;
  batch.placed = end;
  work_.notify_all();
}

BatchPool::Claim BatchPool::claim(int thread) {
  MutexLock lock(mutex_);
  bool is_waiting = false;
  while (true) {
    if (stopping_ || error_) return {};
    if (thread >= active_ + readers_) {
      work_.wait(lock);
      continue;
    }
    for (const auto& batch : open_) {
      if (batch->claimed < batch->placed) return {.batch = batch.get(), .row = batch->claimed++};
    }
    if (can_pull()) {
      pull(lock);
      continue;
    }
    if (!is_pulling_ && opened_ < total_ && !std::exchange(is_waiting, true)) ++meter_.full_waits;
    work_.wait(lock);
  }
}

void BatchPool::finish(OpenBatch& batch, const RowTimes& times) {
  bool is_done = false;
  {
    MutexLock lock(mutex_);
    times_.busy_s += times.busy_s;
    times_.blocked_s += times.blocked_s;
    is_done = ++batch.done == options_.shard.batch;
  }
  if (is_done) ready_.notify_one();
}

void BatchPool::fill(const Claim& unit, int thread, SampleLoader& reader) {
  OpenBatch& batch = *unit.batch;
  const bool is_timed = unit.row % kTimedRow == 0;
  const double core_s = is_timed ? core_seconds() : 0.0;
  const auto begin = Clock::now();
  const auto file = filler_.read(batch, unit.row, reader);
  const double read_s = seconds(Clock::now() - begin);
  RowTimes times{.busy_s = read_s};
  if (is_timed) {
    times.blocked_s = std::clamp(read_s - (core_seconds() - core_s), 0.0, read_s) * rows_each(options_.shard.batch);
  }
  const WorkPermit permit(permits_, thread, batch.number * options_.shard.batch + unit.row);
  const auto permitted = Clock::now();
  filler_.fill(batch, unit.row, slots_[static_cast<std::size_t>(batch.slot)], file,
               loaders_[static_cast<std::size_t>(permit.index())]);
  times.busy_s += seconds(Clock::now() - permitted);
  finish(batch, times);
}

void BatchPool::work(int thread) {
  try {
    SampleLoader reader = filler_.make_loader();
    for (Claim unit = claim(thread); unit.batch != nullptr; unit = claim(thread)) fill(unit, thread, reader);
  } catch (...) {
    {
      MutexLock lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
    ready_.notify_one();
    work_.notify_all();
  }
}

std::unique_ptr<OpenBatch> BatchPool::take_front() {
  const auto start = Clock::now();
  MutexLock lock(mutex_);
  is_awaited_ = true;
  const auto is_ready = [&](const auto& batch) { return batch->done == options_.shard.batch; };
  ready_then_ = std::ranges::count_if(open_, is_ready);
  meter_.depth_sum += ready_then_;
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
  stats_.wait_s += seconds(Clock::now() - start);
  stats_.samples += std::ranges::count_if(batch->elements, [](const Element& one) { return !one.is_padding; });
  work_.notify_all();
  return batch;
}

void BatchPool::tune(Clock::time_point begin, Clock::time_point end) {
  RowTimes times;
  {
    MutexLock lock(mutex_);
    times = times_;
  }
  const double busy_s = times.busy_s - times_then_.busy_s;
  const double blocked_s = std::min(times.blocked_s - times_then_.blocked_s, busy_s);
  const bool has_settled = tuner_.observe({.interval_s = seconds(end - last_taken_),
                                           .wait_s = seconds(end - begin),
                                           .work_s = busy_s - blocked_s,
                                           .blocked_s = blocked_s},
                                          ready_then_);
  last_taken_ = end;
  times_then_ = times;
  start_threads();
  permits_.allow(tuner_.workers());
  {
    MutexLock lock(mutex_);
    active_ = tuner_.workers();
    readers_ = tuner_.readers();
    ahead_ = tuner_.ahead();
  }
  work_.notify_all();
  if (has_settled && options_.mode == LoadMode::Training) log::info(tuner_.text());
}

void BatchPool::unite_bad(const std::vector<FoundBad>& found) {
  quarantine_.unite(found);
  MutexLock lock(mutex_);
  stats_.bad = quarantine_.count();
}

std::optional<Batch> BatchPool::next() {
  if (has_failed_ || number_of(position_) >= total_) return std::nullopt;
  RG_ASSERT(std::any_of(held_.begin(), held_.end(), [](const auto& batch) { return batch == nullptr; }));
  const auto begin = Clock::now();
  auto batch = take_front();
  if (tuner_.does_tune()) tune(begin, Clock::now());
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

void BatchPool::release(int slot) {
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

LoaderStats BatchPool::stats() const {
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

std::vector<StageReport> BatchPool::report() const {
  std::vector<StageReport> report = chain_->report();
  StageMeter meter;
  {
    MutexLock lock(mutex_);
    meter = meter_;
    meter.busy_s = times_.busy_s;
    meter.threads = active_;
    meter.readers = readers_;
    meter.capacity = ahead_;
    meter.pull_s = stats_.wait_s;
  }
  report[plan_.batching_stage].meter = meter;
  if (plan_.batching_stage + 1 < report.size()) report.back().meter = meter;
  return report;
}

}  // namespace roentgen::data
