// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `pipeline`: measures the throughput from images on disk to batches, without a network, and finds the slowest
// stage.
#pragma once

#include <cstdint>

#include "bench/consumer.h"
#include "bench/input.h"
#include "core/value.h"
#include "data/source/dataset.h"
#include "data/stage/memory_plan.h"

namespace roentgen::bench {

/// Options, memory and length of a measurement.
struct PlannedInput {
  InputOptions options;       ///< options with at most as many reading threads as the memory allows
  BatchSize size;             ///< size of batches, and the number of slots that the memory allows
  data::MemoryShares memory;  ///< shares of the memory
  std::int64_t steps = 0;     ///< number of measured batches: options.steps, or whole passes
  double settle_s = 0.0;      ///< longest time to wait until the pipeline has tuned its sizes, s
};
/// Plans a measurement within options.memory_mb. Throws ConfigError if warmup or steps is out of range, or as
/// data::share_memory() does.
[[nodiscard]] PlannedInput plan_input(const data::Dataset& dataset, const InputOptions& options);

/// Runs the pipeline over all samples of `dataset` (labels are not needed), in training order, with the augmentation of
/// the options, to normalised float32. Returns a table:
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
/// Throws ConfigError if an option is out of range or there are fewer images than a batch, and as data::share_memory()
/// and data::DiskCache do. Throws DataError for unreadable images.
[[nodiscard]] Value run_pipeline(const data::Dataset& dataset, const InputOptions& options);

}  // namespace roentgen::bench
