// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// RunInput: training and validation images of a run, the memory for them, and the first position. Only for the trainer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/shape.h"

namespace roentgen::data {
class ImageStore;
struct LoaderOptions;
}  // namespace roentgen::data

namespace roentgen::train {

struct RunState;
struct TrainJob;

/// Training images of a run, and the memory for them. The memory is train.memory_mb, or this rank's share of half of
/// the free memory. Move-only.
struct RunInput {
  /// Indices of the training images in the data set's samples.
  std::vector<std::uint32_t> training;
  std::vector<std::uint32_t> validation;
  /// Number of batches in memory: train.slots, or as many as the memory can hold.
  int slots = 2;
  /// Number of files that may be read ahead of the decoding threads.
  int readers = 0;
  /// Memory for the cache of decoded images, in bytes: this rank's part.
  std::uint64_t cache_bytes = 0;
  /// Cache of decoded images, on disk or in memory. Null until open_memory_cache(), if it is in memory.
  std::unique_ptr<data::ImageStore> store;
};

/// Divides the memory between the parts of the input pipeline and logs the result. Throws ConfigError if the pipeline
/// does not fit (data::require_fits()), or if train.slots is 1. Throws as data::DiskCache does.
[[nodiscard]] RunInput plan_input(const TrainJob& job);

/// Makes input.store if it is null: a cache in memory, which the ranks of a host share (node_cache.h). All ranks must
/// call it, after they have compared their jobs.
void open_memory_cache(const TrainJob& job, RunInput& input);

/// Number of updates per epoch, at least 1. Throws ConfigError if the ranks cannot fill a batch, or if train.accumulate
/// is larger than the number of batches.
[[nodiscard]] std::int64_t updates_per_epoch(const TrainJob& job, const RunInput& input);

/// Warns if an epoch of `updates` updates leaves images out (skipped_note()).
void warn_of_skipped(const TrainJob& job, const RunInput& input, std::int64_t updates);

/// Options that load the training images from the position in `state` on. With unchanged numbers of ranks and images
/// per batch, loading continues at the next batch. Otherwise it continues with samples that no rank has used yet in the
/// epoch. Legs, step in the epoch and loss of `state` are then updated for the present ranks. Throws ConfigError as
/// data::resume_elsewhere() does.
[[nodiscard]] data::LoaderOptions loader_options(const TrainJob& job, const RunInput& input, DType dtype,
                                                 RunState& state);

/// Numbers of images and updates of an epoch.
struct EpochUse {
  /// Number of training images.
  std::int64_t images = 0;
  /// Updates per epoch.
  std::int64_t updates = 0;
  std::int64_t images_per_update = 0;
  std::int64_t ranks = 1;
};

/// Returns a warning if an epoch leaves out at least as many images as one update uses; else an empty text.
[[nodiscard]] std::string skipped_note(const EpochUse& use);

/// Returns a warning if every epoch reads the data over a network; else an empty text.
/// @param network type of the network file system (runtime/cache_folder.h), or null
/// @param keeps_on_disk true if decoded images are cached on a disk of this host
[[nodiscard]] std::string network_note(const char* network, const std::filesystem::path& data, bool keeps_on_disk);

}  // namespace roentgen::train
