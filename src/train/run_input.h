// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// RunInput: the images of a run, the memory for them, and the position to start from. Internal to the trainer.
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

/// Images of a run, and the division of the memory for them: train.memory_mb, or this rank's share of half of the free
/// memory. Move-only.
struct RunInput {
  /// Indices into the data set's samples.
  std::vector<std::uint32_t> training;
  std::vector<std::uint32_t> validation;
  /// Batches held by the training step: train.slots, or as many as there is room for.
  int slots = 2;
  /// Files that may be read ahead of the decoding threads.
  int readers = 0;
  /// Decoded images, in memory or on a disk; never null.
  std::unique_ptr<data::ImageStore> store;
};

/// Divides the memory and logs the parts. Throws ConfigError as data::require_fits() when the pipeline does not fit, or
/// when train.slots is 1. Throws as data::DiskCache.
[[nodiscard]] RunInput plan_input(const TrainJob& job);

/// Updates of an epoch, at least 1. ConfigError where the ranks cannot fill a batch, or where train.accumulate asks for
/// more batches than there are.
[[nodiscard]] std::int64_t updates_per_epoch(const TrainJob& job, const RunInput& input);

/// Warns where an epoch of this many updates leaves images out (skipped_note()).
void warn_of_skipped(const TrainJob& job, const RunInput& input, std::int64_t updates);

/// Options to load the training images from the position of `state` on. With the ranks and the batch of all earlier
/// legs, the first batch is the one after the last. Otherwise it holds samples that no rank has had yet. Legs, step
/// in the epoch and loss of `state` then become those of the present ranks. Throws ConfigError as
/// data::resume_elsewhere().
[[nodiscard]] data::LoaderOptions loader_options(const TrainJob& job, const RunInput& input, DType dtype,
                                                 RunState& state);

/// Number of images that the updates of an epoch take.
struct EpochUse {
  /// Number of training images.
  std::int64_t images = 0;
  /// Updates of an epoch, and images of all ranks in each.
  std::int64_t updates = 0;
  std::int64_t images_per_update = 0;
  std::int64_t ranks = 1;
};

/// Returns a line where an epoch leaves out as many images as an update takes, or more; else empty.
[[nodiscard]] std::string skipped_note(const EpochUse& use);

/// Returns a line where every epoch reads the data through a network; else empty.
/// @param network kind of the network file system (runtime/cache_folder.h), or null
/// @param keeps_on_disk decoded images stay on a disk of this host
[[nodiscard]] std::string network_note(const char* network, const std::filesystem::path& data, bool keeps_on_disk);

}  // namespace roentgen::train
