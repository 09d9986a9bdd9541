// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Input: a pipeline at work for a measurement, and what was seen of it. What all cases with images share.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/consumer.h"
#include "core/value.h"
#include "data/stage/batch.h"

namespace roentgen::data {
struct Dataset;
class DiskCache;
class EmulatedStorage;
class Loader;
struct MemoryShares;
}  // namespace roentgen::data

namespace roentgen::bench {

struct PipelineOptions;

/// The batches that `options` ask for: their size, and as many slots as the pipeline holds ahead and one.
[[nodiscard]] BatchSize batch_size(const PipelineOptions& options);
/// How the memory that options.memory_mb grants is shared, with no more slots than batch_size() has. ConfigError as
/// data::share_memory().
[[nodiscard]] data::MemoryShares share_memory(const data::Dataset& dataset, const PipelineOptions& options);
/// Decoding threads: what is asked for, or the physical cores of options.cores, or those of the process.
[[nodiscard]] int workers_of(const PipelineOptions& options);

/// A pipeline that fills slots, distorted as the options say, into normalised float32. One thread.
class Input {
 public:
  /// Starts at once. `dataset` and the slots' memory must outlive it. ConfigError and DataError as data::Loader.
  Input(const data::Dataset& dataset, const PipelineOptions& options, std::vector<data::BatchSlot> slots);
  ~Input();

  [[nodiscard]] data::Loader& loader() { return *loader_; }
  [[nodiscard]] const std::vector<data::BatchSlot>& slots() const { return slots_; }
  /// Images that the cache file held before this began; nothing without one.
  [[nodiscard]] std::optional<std::int64_t> kept_before() const { return kept_before_; }

 private:
  std::vector<data::BatchSlot> slots_;
  std::unique_ptr<data::DiskCache> cache_;
  std::optional<std::int64_t> kept_before_;
  std::unique_ptr<data::EmulatedStorage> storage_;
  std::unique_ptr<data::Loader> loader_;
};

/// What the consumer saw of the measured batches.
struct Course {
  std::vector<double> batch_s;
  std::int64_t images = 0;
  double wall_s = 0.0;
  /// Of the whole process.
  double processor_s = 0.0;
  /// Waiting for batches.
  double wait_s = 0.0;
  /// Share of the images, loaded meanwhile, that came from a cache; 0 without one.
  double cached_share = 0.0;
  /// Of the first batch.
  std::string checksum;

  [[nodiscard]] double images_per_s() const { return static_cast<double>(images) / wall_s; }
  /// Mean, from batch to batch.
  [[nodiscard]] double step_s() const { return wall_s / static_cast<double>(batch_s.size()); }
  [[nodiscard]] double wait_share() const { return wait_s / wall_s; }
};

/// Batches before those measured, and those.
struct BatchCounts {
  std::int64_t warmup = 3;
  /// Warming up goes on as long as the pipeline's sizes have not settled, but no longer than this. For endless ones.
  double settle_s = 0.0;
  std::int64_t steps = 10;
  /// No more are measured once they took so long together; 0: all are.
  double most_s = 0.0;
};
/// Takes so many batches and gives each to the consumer, whose slots the input fills. ConfigError when the pipeline
/// ends before.
[[nodiscard]] Course take_batches(Input& input, Consumer& consumer, const BatchCounts& counts);
/// `steps`, or, where buffers of images that were read hold as much as those take, as many as whole passes have: in
/// less, nothing need be read.
[[nodiscard]] std::int64_t steps_beyond_buffers(const data::Dataset& dataset, const PipelineOptions& options);
/// Lets the consumer work on slot 0 again and again, without any input.
[[nodiscard]] Course take_one_batch(Consumer& consumer, std::int64_t images, const BatchCounts& counts);

/// Reads every file of the data set, so that the page cache holds as much of it as it can.
void read_once(const data::Dataset& dataset);

/// What `options` ask for besides the pipeline, as every case with images reports it: images to seed of run_pipeline().
void add_settings(Value& result, const data::Dataset& dataset, const PipelineOptions& options);
/// "input" where the consumer does nothing or waits for more than 5% of the time, else "compute".
[[nodiscard]] std::string_view bound_of(const Course& course, const Consumer& consumer);

}  // namespace roentgen::bench
