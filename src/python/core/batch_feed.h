// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// BatchFeed: batches of a data::Loader in memory that the user may keep for any time. A batch is the loader's own slot
// while enough slots remain for prefetching; further batches are copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/thread_annotations.h"
#include "data/source/dataset.h"
#include "data/stage/loader.h"
#include "python/core/native_work.h"
#include "python/core/process.h"

namespace roentgen::python {

/// Memory of one batch: images (N, C, S, S) and labels (N, K), aligned to 64 bytes. Holders may read and write it. When
/// the last holder releases it, the loader fills it again.
struct LentBatch {
  std::span<std::byte> images;         ///< images of `rows` rows
  std::span<float> labels;             ///< labels of `rows` rows; NaN: unknown
  std::int64_t rows = 0;               ///< valid rows, at most the batch size
  std::uint32_t epoch = 0;             ///< epoch of its samples, from 0
  std::vector<std::uint32_t> samples;  ///< index into Dataset::samples of each row
};

/// Options of a BatchFeed.
struct FeedOptions {
  data::LoaderOptions loading;         ///< options of data::Loader
  std::vector<std::uint32_t> samples;  ///< indices into Dataset::samples
  int slots = 3;                       ///< batches in memory, at least 3
};

/// Position of a BatchFeed. It has the data that another feed needs to continue there, even with another batch size or
/// number of ranks.
struct FeedState {
  data::LoaderPosition position{};    ///< next batch
  data::ShardOptions shard{};         ///< batch size and ranks to which `position` refers
  std::vector<std::uint32_t> seen{};  ///< samples of this epoch that earlier feeds returned
  std::int64_t seen_batch = 0;        ///< first batch of this feed, if `seen` is not empty
  std::vector<std::uint32_t> bad{};   ///< samples found corrupt so far
};

/// Provides the batches of endless epochs. Thread-safe: calls are executed one after the other. Any thread may release
/// lent batches, even after the feed is destroyed. Throws in a process forked after its creation, because threads do
/// not survive a fork. end_native_work() joins its threads; afterwards only the destructor may be called.
class BatchFeed {
 public:
  /// Starts reading at once. Throws as data::Loader does.
  BatchFeed(std::shared_ptr<const data::Dataset> dataset, FeedOptions options);
  ~BatchFeed();
  BatchFeed(const BatchFeed&) = delete;
  BatchFeed& operator=(const BatchFeed&) = delete;

  /// Returns the next batch of the current epoch, or nullopt once at its end; the next call begins the next epoch.
  /// Throws as data::Loader::next() does. Never returns a batch without rows, so a rank may get one batch less if the
  /// ranks share a padded last step.
  [[nodiscard]] std::shared_ptr<LentBatch> next();
  /// Skips to the first batch of the next epoch, unless an epoch is just beginning. Restarts after an error.
  void skip_to_next_epoch();
  /// Number of batches that this rank gets in a whole epoch; a resumed epoch has fewer.
  [[nodiscard]] std::int64_t steps_per_epoch() const { return steps_per_epoch_; }
  /// Position of the batch that next() returns next.
  [[nodiscard]] FeedState state() const;
  /// Continues at a position. Throws ConfigError if it does not belong to these samples.
  void restore(const FeedState& state);
  /// Counts and times since the feed was created.
  [[nodiscard]] data::LoaderStats stats() const;
  /// Options given to the constructor.
  [[nodiscard]] const data::LoaderOptions& loading() const { return options_.loading; }
  /// Number of images in the whole data set, all splits together.
  [[nodiscard]] std::size_t dataset_size() const { return dataset_->samples.size(); }

 private:
  class Memory;
  void start(data::LoaderOptions loading) RG_REQUIRES(mutex_);
  void stop();
  [[nodiscard]] std::shared_ptr<LentBatch> lend(const data::Batch& batch) RG_REQUIRES(mutex_);

  const std::shared_ptr<const data::Dataset> dataset_;
  const FeedOptions options_;
  const std::int64_t steps_per_epoch_;
  const OwnProcess process_;
  mutable Mutex mutex_;
  std::shared_ptr<Memory> memory_ RG_GUARDED_BY(mutex_);
  std::unique_ptr<data::Loader> loader_ RG_GUARDED_BY(mutex_);  // destroyed before memory_, to which it writes
  data::LoaderOptions started_ RG_GUARDED_BY(mutex_);           // options with which loader_ was started
  std::int64_t epoch_ RG_GUARDED_BY(mutex_) = 0;                // epoch that next() reads
  bool has_failed_ RG_GUARDED_BY(mutex_) = false;               // next() has thrown
  // Last member, so that it is destroyed before the objects that stop() uses
  const StopAtEnd at_end_{[this] { stop(); }};
};

}  // namespace roentgen::python
