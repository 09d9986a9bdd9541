// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Loader: runs a pipeline (pipeline.h). Its pool of workers implements the last stages: it reads, decodes and
// transforms samples directly into the caller's batch slots, ahead of the training step. The content of a batch depends
// only on (seed, epoch, sample): 1 and 16 workers produce the same bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "core/shape.h"
#include "data/source/dataset.h"
#include "data/stage/batch.h"
#include "data/stage/pipeline.h"
#include "data/stage/quarantine.h"
#include "data/stage/shard_options.h"
#include "data/stage/stage_meter.h"
#include "data/transform/augment.h"
#include "data/transform/preprocess.h"

namespace roentgen::data {

class BatchPool;
class EmulatedStorage;
class ImageStore;
class PixelHashes;

/// Use of the batches. Training: shuffled and augmented; corrupt samples are replaced. Evaluation: in order, unchanged;
/// any corrupt sample is fatal. Prediction: in order, unchanged; a corrupt sample becomes a row of zeros that
/// Batch::bad lists.
enum class LoadMode : std::uint8_t { Training, Evaluation, Prediction };

/// Form of the labels. MultiLabel: for sigmoid losses. ClassIndex: for softmax; every image must have exactly one
/// positive label, or none and an unknown label (mask 0).
enum class LabelForm : std::uint8_t { MultiLabel, ClassIndex };

/// Position of a loader: the next batch that it returns.
struct LoaderPosition {
  std::uint32_t epoch = 0;  ///< epoch, from 0
  std::int64_t batch = 0;   ///< batch of this rank in the epoch, from 0
  friend bool operator==(const LoaderPosition&, const LoaderPosition&) = default;
};

/// Options of a Loader.
struct LoaderOptions {
  LoadMode mode = LoadMode::Training;  ///< use of the batches
  /// Batch size, handling of the last incomplete batch, rank and number of ranks. Training usually drops the incomplete
  /// batch, evaluation pads it.
  ShardOptions shard{};
  /// Pipeline; nullopt: training_pipeline(shard.tail), or evaluation_pipeline() in evaluation and prediction.
  std::optional<Pipeline> pipeline{};
  /// Threads of a map_and_batch stage without a number; at least 1.
  int workers = 1;
  /// Largest number of additional threads that wait for storage, if the pipeline tunes it (read_tuner.h).
  int most_readers = 32;
  /// Cores that all threads are bound to (runtime/core_list.h); empty: the cores of the thread that creates the loader.
  std::vector<int> cores = {};
  /// Seed of the random streams Shuffle, Augment and Replace.
  std::uint64_t seed = 0;
  /// Position at which a resumed run starts.
  LoaderPosition start{};
  /// Samples (indices, ascending) of the epoch of `start` that were used before and must be skipped. Needed when a run
  /// resumes with another batch size or number of ranks; resume_elsewhere() sets it together with `start`. Store both
  /// together.
  std::vector<std::uint32_t> seen = {};
  /// Number of epochs of a repeat stage without a number: next() returns nullopt from this epoch on; 0: endless.
  std::uint32_t epochs = 0;
  Preprocess preprocess{};  ///< conversion of an image to the network's input
  /// Random distortions; not used in evaluation.
  Augment augment{};
  /// Evaluation: distortion applied to every image (test_views.h); nullopt: none. Not used in training.
  std::optional<AugmentDraw> view{};
  /// Element type of the slots' images.
  DType dtype = DType::F32;
  LabelForm label_form = LabelForm::MultiLabel;  ///< form of labels and masks
  /// Training: largest fraction of the samples that may be corrupt before next() throws; 0: none may be.
  double max_bad_share = 0.001;
  /// Training: samples that were found corrupt before `start`; they count towards max_bad_share.
  std::vector<std::uint32_t> known_bad = {};
  /// Training: csv (image, epoch, reason) to which corrupt samples are appended; empty: not written.
  std::filesystem::path quarantine{};
  /// Store of decoded images that are kept between epochs, shared by loaders of the same Dataset; may be null. Owned by
  /// the caller; must outlive the Loader. Batches have the same bytes with or without it, except for training images
  /// that a DiskCache shrinks.
  ImageStore* cache = nullptr;
  /// Receives the hash of every image when it is decoded; may be null. Must have as many entries as the Dataset has
  /// samples. Owned by the caller.
  PixelHashes* pixel_hashes = nullptr;
  /// Delays every file access to simulate slow storage; may be null. Owned by the caller.
  EmulatedStorage* storage = nullptr;
  /// If true, asks the system to drop every file from the page cache before it is read. For benchmarks.
  bool is_cold = false;
};

/// Number of batches per epoch that a Loader with these options would return on every rank (chain.h). Reads no image.
[[nodiscard]] std::int64_t steps_per_epoch(const Dataset& dataset, const std::vector<std::uint32_t>& samples,
                                           const LoaderOptions& options);

/// Returns `now`, changed to continue at `position` of a run that had the options `then`. The rest of that epoch
/// contains exactly the samples that no rank has used, except those that Tail::Drop omits. Throws ConfigError if the
/// two pipelines differ. Also throws it if a pass of the pipeline is not a whole number of batches, for example with
/// sharded files (pool_plan.h).
[[nodiscard]] LoaderOptions resume_elsewhere(const Dataset& dataset, const std::vector<std::uint32_t>& samples,
                                             const LoaderOptions& then, const LoaderPosition& position,
                                             LoaderOptions now);

/// Loader of batches. One thread calls next() and release(); the worker threads are internal.
class Loader final : public BatchSource {
 public:
  /// Immediately starts to fill `slots` (at least 1; 2 or more to work ahead) with `samples` (indices into
  /// dataset.samples). `dataset` must outlive the loader. Throws ConfigError if there are no samples or if the start
  /// lies beyond the end of an epoch. Also throws it if an epoch has no step: fewer samples than a batch with
  /// Tail::Drop. Throws DataError as LabelRows does, and ShapeError if a slot has the wrong size.
  Loader(const Dataset& dataset, std::vector<std::uint32_t> samples, LoaderOptions options,
         std::vector<BatchSlot> slots);
  /// Stops each worker after the sample that it is working on.
  ~Loader() override;
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// Waits for the next batch and returns it, in order; nullopt after the last one. Rethrows the exception of a worker.
  /// Throws DataError "[data.loader] ..." for a corrupt sample in evaluation, and beyond max_bad_share in training.
  /// After an exception the loader returns no more batches. Throws std::logic_error if the caller holds every slot.
  [[nodiscard]] std::optional<Batch> next() override;
  void release(int slot) override;

  [[nodiscard]] std::int64_t steps_per_epoch() const;  ///< number of batches in an epoch, on every rank
  /// Position of the batch that next() will return; a checkpoint stores it.
  [[nodiscard]] LoaderPosition position() const;
  /// Indices (ascending) of all corrupt samples in the batches returned so far, including samples known to be corrupt
  /// at the start. A checkpoint stores them.
  [[nodiscard]] std::vector<std::uint32_t> bad_samples() const;
  /// Corrupt samples in the batches returned since the last call, to be passed to the loaders of other ranks.
  [[nodiscard]] std::vector<FoundBad> take_found_bad();
  /// Counts corrupt samples that loaders of other ranks found. Throws DataError beyond max_bad_share.
  void unite_bad(const std::vector<FoundBad>& found);
  /// Counts and times so far. Thread-safe.
  [[nodiscard]] LoaderStats stats() const;
  [[nodiscard]] const Pipeline& pipeline() const;  ///< stages that the loader runs
  /// True if all sizes that the pipeline tunes have been chosen.
  [[nodiscard]] bool has_settled() const;
  /// Counters of each stage, in order. Thread-safe.
  [[nodiscard]] std::vector<StageReport> report() const;

 private:
  std::unique_ptr<BatchPool> pool_;
};

}  // namespace roentgen::data
