// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Input: a running input pipeline and its measurements, for all benchmark cases that read images.
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

/// Settings of an input pipeline, and the number of batches to measure.
struct InputOptions {
  data::Pipeline pipeline = data::training_pipeline(data::Tail::Drop);
  std::int64_t batch = 64;
  std::int64_t image_px = 224;
  /// Number of colour channels: 1 (gray) or 3.
  std::int64_t channels = 1;
  /// Preprocessing of a recipe, which replaces image_px and channels.
  std::optional<data::Preprocess> preprocess{};
  data::Augment augment{};
  /// Image type in the slots: F32 values, or U8 or U16 pixels.
  DType slot_dtype = DType::F32;
  /// Number of threads of the pipeline stage map_and_batch, unless the pipeline text sets it; 0: one per available
  /// core.
  int workers = 0;
  /// Largest number of files read at once (data::LoaderOptions::most_readers). Case `pipeline` lowers it if its memory
  /// limit requires that.
  int most_readers = 32;
  /// Cores to which the pipeline's threads are bound (runtime/core_list.h); empty: all cores that the process may use.
  std::vector<int> cores{};
  /// Number of ranks among which the data is divided, at least 1.
  int ranks = 1;
  int rank = 0;
  /// Number of warm-up batches, at least 0.
  std::int64_t warmup = 3;
  std::int64_t steps = 10;
  /// Time limit of a round in seconds, which may end it before `steps`; 0: none.
  double most_s = 0.0;
  /// True if each file is dropped from the page cache before it is read again. The system may ignore this advice; root
  /// is not needed.
  bool is_cold = false;
  std::optional<data::StorageCosts> storage{};
  /// Speed of an emulated device that processes each batch, in images per second; 0: none.
  double device_images_per_s = 0.0;
  std::uint64_t seed = 0;
  /// Folder of the file that caches decoded images (data::DiskCache); empty: no cache.
  std::filesystem::path cache_dir{};
  /// Memory for case `pipeline` in MiB; 0: half of the machine's free memory.
  std::int64_t memory_mb = 0;
};

/// Returns the batch size of `options`. The number of slots is one more than the pipeline prefetches.
[[nodiscard]] BatchSize batch_size(const InputOptions& options);
/// Divides options.memory_mb between the buffers of the pipeline, with at most as many batch slots as batch_size()
/// returns. Throws ConfigError like data::share_memory().
[[nodiscard]] data::MemoryShares share_memory(const data::Dataset& dataset, const InputOptions& options);
/// Returns the number of decoding threads: options.workers, or the number of physical cores of options.cores or the
/// process.
[[nodiscard]] int workers_of(const InputOptions& options);

/// Running pipeline that fills slots with augmented images. Not thread-safe.
class Input {
 public:
  /// Starts the pipeline. `dataset` and the slots' memory must outlive it. Throws ConfigError and DataError like
  /// data::Loader.
  Input(const data::Dataset& dataset, const InputOptions& options, std::vector<data::BatchSlot> slots);
  ~Input();

  [[nodiscard]] data::Loader& loader() { return *loader_; }
  [[nodiscard]] const std::vector<data::BatchSlot>& slots() const { return slots_; }
  /// Number of images in the cache file before the pipeline started; nullopt without a cache file.
  [[nodiscard]] std::optional<std::int64_t> kept_before() const { return kept_before_; }

 private:
  std::vector<data::BatchSlot> slots_;
  std::unique_ptr<data::DiskCache> cache_;
  std::optional<std::int64_t> kept_before_;
  std::unique_ptr<data::EmulatedStorage> storage_;
  std::unique_ptr<data::Loader> loader_;
};

/// Measurements of a series of batches, taken by their consumer.
struct Course {
  std::vector<double> batch_s;
  std::int64_t images = 0;
  double wall_s = 0.0;
  /// CPU time of the whole process in seconds.
  double processor_s = 0.0;
  /// Time spent waiting for batches, in seconds.
  double wait_s = 0.0;
  /// Fraction of the loaded images that came from a cache; 0 without a cache.
  double cached_share = 0.0;
  /// False if the measurement began before the pipeline had tuned its threads, readers and buffers.
  bool has_settled = true;
  /// Checksum of the images of the first batch.
  std::string checksum;

  [[nodiscard]] double images_per_s() const { return static_cast<double>(images) / wall_s; }
  /// Mean time between batches in seconds.
  [[nodiscard]] double step_s() const { return wall_s / static_cast<double>(batch_s.size()); }
  [[nodiscard]] double wait_share() const { return wait_s / wall_s; }
};

/// Numbers of warm-up batches and measured batches, and their time limits.
struct BatchCounts {
  std::int64_t warmup = 3;
  /// Longest additional warm-up in seconds, in which an endless pipeline tunes its number of threads and buffers.
  double settle_s = 0.0;
  std::int64_t steps = 10;
  /// Time limit of the measurement in seconds; 0: none, so that all steps are measured.
  double most_s = 0.0;
};
/// Passes batches from the input to the consumer and measures them. The input must fill the consumer's slots. Throws
/// ConfigError if the pipeline ends too early.
[[nodiscard]] Course take_batches(Input& input, Consumer& consumer, const BatchCounts& counts);
/// Returns the number of steps to measure: options.steps, or whole epochs if shuffle buffers could already hold all
/// images of so few steps.
[[nodiscard]] std::int64_t steps_beyond_buffers(const data::Dataset& dataset, const InputOptions& options);
/// Longest additional warm-up of cases that wait for the pipeline to settle, in seconds. Slow storage needs long,
/// because a pipeline begins with few readers.
inline constexpr double kMostSettling_s = 30.0;
/// Adds a warning to a result if `unsettled` of its measurements began before the pipeline had settled.
void warn_of_settling(Value& result, std::int64_t unsettled);
/// Passes slot 0 to the consumer repeatedly, without any input, and measures it.
[[nodiscard]] Course take_one_batch(Consumer& consumer, std::int64_t images, const BatchCounts& counts);

/// Reads every file of the dataset, so that the page cache holds as many as possible.
void read_once(const data::Dataset& dataset);

/// Adds the input options, except the pipeline, to a result. Every case with images reports the same keys, from
/// `images` to `seed` of run_pipeline().
void add_settings(Value& result, const data::Dataset& dataset, const InputOptions& options);
/// Returns "input" if the consumer does nothing or waits more than 5% of the time, otherwise "compute".
[[nodiscard]] std::string_view bound_of(const Course& course, const Consumer& consumer);

}  // namespace roentgen::bench
