// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `pipeline`: images from disk to batches, without a network: how fast a pipeline is, and which of its stages is
// the slow one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/value.h"
#include "data/stage/pipeline.h"
#include "data/stage/storage_costs.h"
#include "data/transform/augment.h"
#include "data/transform/preprocess.h"

namespace roentgen::data {
struct Dataset;
}

namespace roentgen::bench {

/// What to measure.
struct PipelineOptions {
  data::Pipeline pipeline = data::training_pipeline(data::Tail::Drop);
  std::int64_t batch = 64;
  std::int64_t image_px = 224;
  /// 1 gray or 3.
  std::int64_t channels = 1;
  /// A recipe's preprocessing, in the place of both, and its distortions.
  std::optional<data::Preprocess> preprocess{};
  data::Augment augment{};
  /// Threads of a map_and_batch that names no number; 0: as many as there are cores for them.
  int workers = 0;
  /// As data::LoaderOptions::most_readers; case `pipeline` lowers it to what its memory holds.
  int most_readers = 32;
  /// Cores that the pipeline's threads are bound to (runtime/core_list.h); empty: all that the process may use.
  std::vector<int> cores{};
  /// The pipeline is that of rank 0 of so many; at least 1.
  int ranks = 1;
  int rank = 0;
  /// Batches before, and batches measured; at least 0 and 1.
  std::int64_t warmup = 3;
  std::int64_t steps = 10;
  /// Every file is dropped from the page cache before it is read again (advice to the system, which may ignore it; no
  /// root needed).
  bool is_cold = false;
  std::optional<data::StorageCosts> storage{};
  /// A device that takes so many images a second is waited for after each batch; 0: none.
  double device_images_per_s = 0.0;
  std::uint64_t seed = 0;
  /// Decoded images are kept in a file here (data::DiskCache); empty: nowhere.
  std::filesystem::path cache_dir{};
  /// Of case `pipeline`: all that it may hold, MiB; 0: half of what the machine has left.
  std::int64_t memory_mb = 0;
};

/// Runs the pipeline over all samples of `dataset` (labels are not needed), in training order, distorted as `augment`
/// says, into normalised float32. The result, a table:
///   case, pipeline (text), images, batch, image_px, channels, workers, input_cores, ranks, cold, storage, seed
///   warmup, n           batches; n is at least what was asked for (steps_beyond_buffers())
///   input, augmentation of a recipe, a line each; null without one
///   storage, device     what is emulated; null where nothing is
///   cache_kept          images in the cache file before the first batch; null without one
///   cached_share        share of the measured images that came from the cache, from memory that is; null without one
///   memory              {budget_bytes, bytes, slots}: what input may hold, holds at most, and batches of it
///   emulated            is anything emulated? Then no figure is one of this machine alone
///   images_per_s        images of the measured batches / wall time
///   per_core            the same / cores kept busy meanwhile (processor time of the process / wall time)
///   batch_ms            {median, p95, min, max}: from batch to batch
///   wait_share          share of the time that the consumer waited for a batch, 0 to 1
///   bound               "input" or "compute", by whether that share exceeds 5%; "input" without a device
///   read_ms, decode_ms, transform_ms   an image, summed over threads; warm-up included
///   read_bytes          an image
///   stages              [{stage, items, threads, capacity, mean_depth, empty_waits, full_waits, pull_s, busy_s}], from
///                       the start, warm-up included
///   rss_bytes           memory of the process at its largest
///   checksum            of the first batch; equal for equal images, seeds and pipelines' orders
///   program, cpu, ...   what it ran on
/// ConfigError on options out of range, where there are fewer images than a batch, and as data::share_memory() and
/// data::DiskCache; DataError on unreadable images.
[[nodiscard]] Value run_pipeline(const data::Dataset& dataset, const PipelineOptions& options);

}  // namespace roentgen::bench
