// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// StageIterator: a stage at work, which pulls from the one before it. For src/data/stage only; everybody else uses a
// Loader.
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

/// Context shared by all stages of a pipeline.
struct StageContext {
  /// The samples of the split: indices into Dataset::samples.
  const std::vector<std::uint32_t>& samples;
  /// Samples by file; null where the pipeline does not begin with files.
  const FileTable* files = nullptr;
  std::uint64_t seed = 0;
  ShardOptions shard;
  /// Number of passes of a repeat without a number; 0: endless.
  std::uint32_t epochs = 0;
  /// The pass a repeat begins with, where a run is resumed.
  std::uint32_t first_epoch = 0;
  /// Samples (ascending) to skip in that pass, because a run with other ranks or batches has used them. They are
  /// skipped before the shard.
  const std::vector<std::uint32_t>* seen = nullptr;
  /// Reads and maps samples; null: the order only, no thread is started and no file touched.
  const RowFiller* work = nullptr;
  /// True while the pipeline is wound forward to where a run left off: elements are counted, not worked on.
  const bool* is_winding = nullptr;
  /// True once no more elements are wanted; stages that gather many elements check it.
  const std::atomic<bool>* is_stopping = nullptr;

  [[nodiscard]] bool should_stop() const { return is_stopping != nullptr && *is_stopping; }
  [[nodiscard]] bool does_work() const { return work != nullptr && !(is_winding != nullptr && *is_winding); }
};

/// Pulls elements. One thread calls start() and next().
class StageIterator {
 public:
  StageIterator() = default;
  StageIterator(const StageIterator&) = delete;
  StageIterator& operator=(const StageIterator&) = delete;
  virtual ~StageIterator() = default;

  /// Goes to the beginning of a pass over the data, with all stages before it.
  virtual void start(std::uint32_t epoch) = 0;
  /// The next element; false at the end of the pass, and from then on until start().
  [[nodiscard]] bool next(Element& out) {
    const auto begin = std::chrono::steady_clock::now();
    const bool has_one = advance(out);
    pull_ns_.fetch_add((std::chrono::steady_clock::now() - begin).count(), std::memory_order_relaxed);
    items_.fetch_add(has_one ? 1 : 0, std::memory_order_relaxed);
    return has_one;
  }
  /// Thread-safe.
  [[nodiscard]] StageMeter meter() const {
    StageMeter meter = own_meter();
    meter.items = items_.load(std::memory_order_relaxed);
    meter.pull_s = 1e-9 * static_cast<double>(pull_ns_.load(std::memory_order_relaxed));
    return meter;
  }

 private:
  virtual bool advance(Element& out) = 0;
  /// Threads and queue, if the stage has any.
  [[nodiscard]] virtual StageMeter own_meter() const { return {}; }

  std::atomic<std::int64_t> items_ = 0;
  std::atomic<std::int64_t> pull_ns_ = 0;
};

/// Inputs from which a stage is built: the previous stage, its kind of elements, and the number of shuffles so far.
/// Each shuffle draws its own numbers.
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
