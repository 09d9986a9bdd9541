// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Input: a running pipeline and its measurements, shared by all cases with images.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/consumer.h"
#include "core/value.h"
#include "data/stage/batch.h"
#include "data/stage/pipeline.h"
#include "data/stage/storage_costs.h"
#include "data/transform/augment.h"
#include "data/transform/preprocess.h"

namespace roentgen::data {
struct Dataset;
class DiskCache;
class EmulatedStorage;
class Loader;
struct MemoryShares;
}  // namespace roentgen::data

namespace roentgen::bench {

/// Settings of a pipeline from files to batches, and the number of batches.
struct InputOptions {
  data::Pipeline pipeline = data::training_pipeline(data::Tail::Drop);
  std::int64_t batch = 64;
  std::int64_t image_px = 224;
  /// 1 gray or 3.
  std::int64_t channels = 1;
  /// Preprocessing and augmentation of a recipe, which replace image_px and channels.
  std::optional<data::Preprocess> preprocess{};
  data::Augment augment{};
  /// Type of the slots' images: F32 values, or U8 or U16 pixels as for engines that ask for them.
  DType slot_dtype = DType::F32;
  /// Threads of a map_and_batch that names no number; 0: as many as there are cores for them.
  int workers = 0;
  /// Files read at once, at most (data::LoaderOptions::most_readers); case `pipeline` lowers it to what its memory
  /// holds.
  int most_readers = 32;
  /// Cores that the pipeline's threads are bound to (runtime/core_list.h); empty: all that the process may use.
  std::vector<int> cores{};
  /// Number of ranks that share the data; the pipeline is that of rank 0. At least 1.
  int ranks = 1;
  int rank = 0;
  /// Warm-up batches, and measured batches; at least 0 and 1.
  std::int64_t warmup = 3;
  std::int64_t steps = 10;
  /// Time limit of a round, even for fewer steps; 0: none.
  double most_s = 0.0;
  /// Whether every file is dropped from the page cache before it is read again (advice to the system, which may ignore
  /// it; no root needed).
  bool is_cold = false;
  std::optional<data::StorageCosts> storage{};
  /// Images per second of an emulated device that is waited for after each batch; 0: none.
  double device_images_per_s = 0.0;
  std::uint64_t seed = 0;
  /// Decoded images are kept in a file here (data::DiskCache); empty: nowhere.
  std::filesystem::path cache_dir{};
  /// Memory for case `pipeline`, MiB; 0: half of the machine's free memory.
  std::int64_t memory_mb = 0;
};

/// The batches that `options` ask for: their size, and as many slots as the pipeline holds ahead and one.
[[nodiscard]] BatchSize batch_size(const InputOptions& options);
/// Divides the memory that options.memory_mb grants, with no more slots than batch_size() has. Throws ConfigError as
/// data::share_memory().
[[nodiscard]] data::MemoryShares share_memory(const data::Dataset& dataset, const InputOptions& options);
/// Number of decoding threads: as requested, or the physical cores of options.cores, or those of the process.
[[nodiscard]] int workers_of(const InputOptions& options);

/// A pipeline that fills slots with images, distorted as the options say, of their slot_dtype. One thread.
class Input {
 public:
  /// Starts at once. `dataset` and the slots' memory must outlive it. ConfigError and DataError as data::Loader.
  Input(const data::Dataset& dataset, const InputOptions& options, std::vector<data::BatchSlot> slots);
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

/// Measurements of batches, as the consumer saw them.
struct Course {
  std::vector<double> batch_s;
  std::int64_t images = 0;
  double wall_s = 0.0;
  /// Processor time of the whole process.
  double processor_s = 0.0;
  /// Waiting for batches.
  double wait_s = 0.0;
  /// Share of the images, loaded meanwhile, that came from a cache; 0 without one.
  double cached_share = 0.0;
  /// Checksum of the first batch.
  std::string checksum;

  [[nodiscard]] double images_per_s() const { return static_cast<double>(images) / wall_s; }
  /// Mean time between batches.
  [[nodiscard]] double step_s() const { return wall_s / static_cast<double>(batch_s.size()); }
  [[nodiscard]] double wait_share() const { return wait_s / wall_s; }
};

/// Batches before those measured, and those.
struct BatchCounts {
  std::int64_t warmup = 3;
  /// Longest warm-up while the pipeline's sizes settle, for endless pipelines.
  double settle_s = 0.0;
  std::int64_t steps = 10;
  /// Time limit of a measurement; 0: all steps are measured.
  double most_s = 0.0;
};
/// Takes a number of batches and gives each to the consumer, whose slots the input fills. Throws ConfigError when the
/// pipeline ends before.
[[nodiscard]] Course take_batches(Input& input, Consumer& consumer, const BatchCounts& counts);
/// Number of steps to measure: `steps`, or the steps of whole passes where read-ahead buffers could hold all images of
/// `steps`. In fewer steps nothing would have to be read.
[[nodiscard]] std::int64_t steps_beyond_buffers(const data::Dataset& dataset, const InputOptions& options);
/// Gives slot 0 to the consumer repeatedly, without any input.
[[nodiscard]] Course take_one_batch(Consumer& consumer, std::int64_t images, const BatchCounts& counts);

/// Reads every file of the data set, so that the page cache holds as much of it as it can.
void read_once(const data::Dataset& dataset);

/// Adds the options besides the pipeline, as every case with images reports them: images to seed of run_pipeline().
void add_settings(Value& result, const data::Dataset& dataset, const InputOptions& options);
/// "input" where the consumer does nothing or waits for more than 5% of the time, else "compute".
[[nodiscard]] std::string_view bound_of(const Course& course, const Consumer& consumer);

}  // namespace roentgen::bench
