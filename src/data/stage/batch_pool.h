// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// BatchPool: the worker threads of a Loader, which run the stages batch, map_and_batch and the prefetch behind them.
// One mutex guards the list of open batches, in order, and for each row whether it has an element, is claimed, or is
// done. The unit of work is a row. Workers write the rows of a batch without a lock; the mutex that counts rows
// publishes them to the consumer.
// Elements come from the chain of the earlier stages (chain.h). One worker at a time pulls, without holding the mutex.
// Reading needs only a thread; decoding and later work also need a permit, so that few cores can wait for many files.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "core/thread_annotations.h"
#include "data/stage/batch_rows.h"
#include "data/stage/chain.h"
#include "data/stage/loader.h"
#include "data/stage/pool_plan.h"
#include "data/stage/pool_tuner.h"
#include "data/stage/quarantine.h"
#include "data/stage/sample_loader.h"
#include "data/stage/work_permits.h"

namespace roentgen::data {

/// The pipeline in the options, or the default of their mode.
[[nodiscard]] Pipeline pipeline_of(const LoaderOptions& options);

/// Implementation of Loader, method by method (loader.h).
class BatchPool {
 public:
  BatchPool(const Dataset& dataset, std::vector<std::uint32_t> samples, LoaderOptions options,
            std::vector<BatchSlot> slots);
  BatchPool(const BatchPool&) = delete;
  BatchPool& operator=(const BatchPool&) = delete;
  ~BatchPool() { stop(); }

  std::optional<Batch> next();
  void release(int slot);
  [[nodiscard]] std::int64_t steps() const { return steps_; }
  [[nodiscard]] LoaderPosition position() const { return position_; }
  [[nodiscard]] std::vector<std::uint32_t> bad_samples() const { return quarantine_.samples(); }
  [[nodiscard]] std::vector<FoundBad> take_found_bad() { return quarantine_.take_found(); }
  void unite_bad(const std::vector<FoundBad>& found);
  [[nodiscard]] LoaderStats stats() const;
  [[nodiscard]] const Pipeline& pipeline() const { return pipeline_; }
  [[nodiscard]] bool has_settled() const { return tuner_.has_settled(); }
  [[nodiscard]] std::vector<StageReport> report() const;

 private:
  using Clock = std::chrono::steady_clock;

  /// A row to be filled; batch is null when the worker is to end.
  struct Claim {
    OpenBatch* batch = nullptr;
    std::int64_t row = 0;
  };

  /// Time spent on a row.
  struct RowTimes {
    /// Reading, decoding and all the rest, without waiting for a permit.
    double busy_s = 0.0;
    /// Part of busy_s spent waiting for storage, including the rows that this one replaces.
    double blocked_s = 0.0;
  };

  void check() const;
  [[nodiscard]] std::int64_t total_steps() const;
  void wind();
  void stop();
  /// Starts the threads that the sizes ask for. Fewer readers where the system gives no more threads.
  void start_threads();
  void work(int thread);
  Claim claim(int thread);
  void fill(const Claim& unit, int thread, SampleLoader& reader);
  void finish(OpenBatch& batch, const RowTimes& times);
  [[nodiscard]] bool can_pull() const RG_REQUIRES(mutex_);
  void pull(MutexLock& lock) RG_REQUIRES(mutex_);
  std::unique_ptr<OpenBatch> take_front();
  void tune(Clock::time_point begin, Clock::time_point end);
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
  std::atomic<bool> is_stopping_ = false;
  StageContext context_;
  const std::int64_t steps_;
  const PoolPlan plan_;
  /// Batches of all epochs.
  std::int64_t total_ = 0;

  // Members used by the consumer's thread only.
  Quarantine quarantine_;
  std::vector<std::unique_ptr<OpenBatch>> held_;
  LoaderPosition position_;
  bool has_failed_ = false;
  PoolTuner tuner_;
  /// Finished batches when the consumer last asked for one.
  std::int64_t ready_then_ = 0;
  Clock::time_point last_taken_ = Clock::now();
  RowTimes times_then_;

  WorkPermits permits_;
  /// Loaders by permit.
  std::vector<SampleLoader> loaders_;

  /// Chain of stages, used by the worker that pulls.
  std::unique_ptr<Chain> chain_;

  mutable Mutex mutex_;
  std::condition_variable_any work_;   // an element was placed, a slot is free, a batch is asked for, or stopping
  std::condition_variable_any ready_;  // a batch is done
  bool stopping_ RG_GUARDED_BY(mutex_) = false;
  bool is_pulling_ RG_GUARDED_BY(mutex_) = false;
  bool is_awaited_ RG_GUARDED_BY(mutex_) = false;
  std::deque<int> free_slots_ RG_GUARDED_BY(mutex_);
  /// Open batches in order; the consumer takes from the front. All but the last have all their elements.
  std::deque<std::unique_ptr<OpenBatch>> open_ RG_GUARDED_BY(mutex_);
  /// Numbers of the next batch to open and of the next to give.
  std::int64_t opened_ RG_GUARDED_BY(mutex_) = 0;
  std::int64_t taken_ RG_GUARDED_BY(mutex_) = 0;
  /// Limit of threads that work at once; the others wait.
  int active_ RG_GUARDED_BY(mutex_);
  int readers_ RG_GUARDED_BY(mutex_);
  /// Finished batches that may be held.
  std::int64_t ahead_ RG_GUARDED_BY(mutex_);
  LoaderStats stats_ RG_GUARDED_BY(mutex_);
  StageMeter meter_ RG_GUARDED_BY(mutex_);
  RowTimes times_ RG_GUARDED_BY(mutex_);
  /// Error that ended a worker outside of any row, such as a lack of memory.
  std::exception_ptr error_ RG_GUARDED_BY(mutex_);

  std::vector<std::jthread> threads_;  // last: joined before anything they use goes
};

}  // namespace roentgen::data
