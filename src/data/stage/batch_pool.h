// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// BatchPool: worker threads of a Loader, which run the stages batch, map_and_batch and the prefetch after them. The
// unit of work is a row. One mutex guards the list of open batches and the state of each row: has an element, claimed,
// or done. Workers write rows without a lock; the mutex that counts finished rows publishes them to the consumer.
// Elements come from the chain of the earlier stages (chain.h). One worker at a time pulls, without holding the mutex.
// Any thread may read. Decoding and later work also need a permit, so a few cores can wait for many files.
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

/// Pipeline in the options, or the default pipeline of their mode.
[[nodiscard]] Pipeline pipeline_of(const LoaderOptions& options);

/// Implementation of Loader; its methods are documented in loader.h.
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

  /// A row to fill; `batch` is null if the worker must end.
  struct Claim {
    OpenBatch* batch = nullptr;
    std::int64_t row = 0;
  };

  /// Times spent on a row.
  struct RowTimes {
    /// Time for reading, decoding and all other work, without waiting for a permit.
    double busy_s = 0.0;
    /// Part of busy_s spent waiting for storage, including reads of unreadable samples that this row replaces.
    double blocked_s = 0.0;
  };

  void check() const;
  [[nodiscard]] std::int64_t total_steps() const;
  void wind();
  void stop();
  /// Starts as many threads as the pool's sizes require; fewer readers if the system cannot create more threads.
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
  /// Number of batches in all epochs.
  std::int64_t total_ = 0;

  // Members used by the consumer's thread only.
  Quarantine quarantine_;
  std::vector<std::unique_ptr<OpenBatch>> held_;
  LoaderPosition position_;
  bool has_failed_ = false;
  PoolTuner tuner_;
  /// Number of finished batches when the consumer last asked for a batch.
  std::int64_t ready_then_ = 0;
  Clock::time_point last_taken_ = Clock::now();
  RowTimes times_then_;

  WorkPermits permits_;
  /// Sample loaders, one per permit.
  std::vector<SampleLoader> loaders_;

  /// Stages before the batch, used by the worker that currently pulls.
  std::unique_ptr<Chain> chain_;

  mutable Mutex mutex_;
  std::condition_variable_any work_;   // signals that a worker may find work, or must stop
  std::condition_variable_any ready_;  // signals that a batch is complete
  bool stopping_ RG_GUARDED_BY(mutex_) = false;
  bool is_pulling_ RG_GUARDED_BY(mutex_) = false;
  bool is_awaited_ RG_GUARDED_BY(mutex_) = false;
  std::deque<int> free_slots_ RG_GUARDED_BY(mutex_);
  /// Open batches in order; the consumer takes from the front. All except the last have all their elements.
  std::deque<std::unique_ptr<OpenBatch>> open_ RG_GUARDED_BY(mutex_);
  /// Number of the next batch to open (`opened_`) and of the next batch to return (`taken_`).
  std::int64_t opened_ RG_GUARDED_BY(mutex_) = 0;
  std::int64_t taken_ RG_GUARDED_BY(mutex_) = 0;
  /// Largest number of threads that compute (`active_`) and of additional threads that wait for storage (`readers_`).
  int active_ RG_GUARDED_BY(mutex_);
  int readers_ RG_GUARDED_BY(mutex_);
  /// Largest number of finished batches that are held.
  std::int64_t ahead_ RG_GUARDED_BY(mutex_);
  LoaderStats stats_ RG_GUARDED_BY(mutex_);
  StageMeter meter_ RG_GUARDED_BY(mutex_);
  RowTimes times_ RG_GUARDED_BY(mutex_);
  /// Error that ended a worker outside of any row, such as a lack of memory.
  std::exception_ptr error_ RG_GUARDED_BY(mutex_);

  std::vector<std::jthread> threads_;  // last, so that they are joined before other members are destroyed
};

}  // namespace roentgen::data
