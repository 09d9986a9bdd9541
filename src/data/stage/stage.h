// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// StageIterator: a running stage, which pulls elements from the previous one. For src/data/stage only; other code uses
// a Loader.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "data/stage/element.h"
#include "data/stage/shard_options.h"
#include "data/stage/stage_list.h"
#include "data/stage/stage_meter.h"
#include "data/stage/stage_options.h"

namespace roentgen::data {

class RowFiller;

/// Data shared by all stages of a pipeline.
struct StageContext {
  /// Samples of the split, as indices into Dataset::samples.
  const std::vector<std::uint32_t>& samples;
  /// Samples of each file; null if the pipeline does not begin with files.
  const FileTable* files = nullptr;
  std::uint64_t seed = 0;
  ShardOptions shard;
  /// Number of passes of a repeat stage without a number; 0: endless.
  std::uint32_t epochs = 0;
  /// First pass, for a repeat stage in a resumed run.
  std::uint32_t first_epoch = 0;
  /// Samples (ascending) to skip in the first pass, because a run with another number of ranks or batch size has used
  /// them. They are skipped before the shard stage.
  const std::vector<std::uint32_t>* seen = nullptr;
  /// Reads and maps samples. Null: only the order is computed, and no thread or file is used.
  const RowFiller* work = nullptr;
  /// True while the pipeline of a resumed run is moved forward to its position: elements are counted but not processed.
  const bool* is_winding = nullptr;
  /// True when no more elements are needed; stages that gather many elements check it.
  const std::atomic<bool>* is_stopping = nullptr;

  [[nodiscard]] bool should_stop() const { return is_stopping != nullptr && *is_stopping; }
  [[nodiscard]] bool does_work() const { return work != nullptr && !(is_winding != nullptr && *is_winding); }
};

/// A running stage. One thread calls start() and next().
class StageIterator {
 public:
  StageIterator() = default;
  StageIterator(const StageIterator&) = delete;
  StageIterator& operator=(const StageIterator&) = delete;
  virtual ~StageIterator() = default;

  /// Moves to the beginning of a pass over the data, together with all earlier stages.
  virtual void start(std::uint32_t epoch) = 0;
  /// Returns the next element in `out`; false at the end of the pass and until the next start().
  [[nodiscard]] bool next(Element& out) {
    const auto begin = std::chrono::steady_clock::now();
    const bool has_one = advance(out);
    pull_ns_.fetch_add((std::chrono::steady_clock::now() - begin).count(), std::memory_order_relaxed);
    items_.fetch_add(has_one ? 1 : 0, std::memory_order_relaxed);
    return has_one;
  }
  /// Counters so far. Thread-safe.
  [[nodiscard]] StageMeter meter() const {
    StageMeter meter = own_meter();
    meter.items = items_.load(std::memory_order_relaxed);
    meter.pull_s = 1e-9 * static_cast<double>(pull_ns_.load(std::memory_order_relaxed));
    return meter;
  }

 private:
  virtual bool advance(Element& out) = 0;
  /// Counters of the stage's own threads and queue, if it has any.
  [[nodiscard]] virtual StageMeter own_meter() const { return {}; }

  std::atomic<std::int64_t> items_ = 0;
  std::atomic<std::int64_t> pull_ns_ = 0;
};

/// Input of a stage: the previous stage, the kind of its elements, and the number of shuffles so far. This number makes
/// each shuffle draw different numbers.
struct StageUpstream {
  std::unique_ptr<StageIterator> iterator;
  Carries carries = Carries::Nothing;
  int shuffles = 0;
};

#define RG_DECLARE_ITERATOR(Stage)                                                                       \
  /** The stage at work; what was upstream where there is nothing to do, or the Loader does it. */       \
  [[nodiscard]] std::unique_ptr<StageIterator> make_iterator(const Stage& stage, StageUpstream upstream, \
                                                             const StageContext& context);
RG_STAGES(RG_DECLARE_ITERATOR)
#undef RG_DECLARE_ITERATOR

}  // namespace roentgen::data
