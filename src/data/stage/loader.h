// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Loader: runs a pipeline (pipeline.h). It runs the last stages itself: a pool of workers reads, decodes and transforms
// samples straight into the caller's batch slots, ahead of the step. The content of a batch depends on (seed, epoch,
// sample) only: 1 and 16 workers give the same bytes.
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

/// Training: shuffled, augmented, corrupt samples are replaced. Evaluation: in order, as they are, any corrupt sample
/// is fatal. Prediction: in order, as they are, the row of a corrupt sample is zeros and named in Batch::bad.
enum class LoadMode : std::uint8_t { Training, Evaluation, Prediction };

/// MultiLabel: for sigmoid losses. ClassIndex: for softmax; every image must have exactly one positive label, or an
/// unknown one (mask 0).
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
  /// Batch size, tail policy, rank. Training usually drops the tail, evaluation pads.
  ShardOptions shard{};
  /// Pipeline; nullopt: training_pipeline(shard.tail), or evaluation_pipeline() in the other modes.
  std::optional<Pipeline> pipeline{};
  /// Threads of a map_and_batch that names no number; at least 1.
  int workers = 1;
  /// Largest number of extra threads that wait for storage, if the pipeline leaves it to tuning (read_tuner.h).
  int most_readers = 32;
  /// Cores that all its threads are bound to (runtime/core_list.h); empty: those of the thread that makes the loader.
  std::vector<int> cores = {};
  /// Root of the streams Shuffle, Augment and Replace.
  std::uint64_t seed = 0;
  /// Position to start at, for resume.
  LoaderPosition start{};
  /// Samples (indices, ascending) of the epoch of `start` that were used before it and must be skipped. For a run that
  /// resumes with another batch size or number of ranks; resume_elsewhere() makes it and `start`. It belongs to the
  /// position: store both together.
  std::vector<std::uint32_t> seen = {};
  /// End of a repeat that names no number: next() gives nothing from this epoch on; 0: endless.
  std::uint32_t epochs = 0;
  Preprocess preprocess{};  ///< conversion of a picture to the network's input
  /// Augmentation; not used in evaluation.
  Augment augment{};
  /// Evaluation: one distortion of every image (test_views.h); nothing: as they are. Not used in training.
  std::optional<AugmentDraw> view{};
  /// Element type of the slots' images.
  DType dtype = DType::F32;
  LabelForm label_form = LabelForm::MultiLabel;  ///< form of labels and masks
  /// Training: largest share of the samples that may turn out corrupt before next() throws. 0: none may.
  double max_bad_share = 0.001;
  /// Training: samples that were found corrupt before `start`; they count towards the share.
  std::vector<std::uint32_t> known_bad = {};
  /// Training: csv (image, epoch, reason) to which corrupt samples are appended; empty: not written.
  std::filesystem::path quarantine{};
  /// Decoded images kept between epochs, shared by loaders of the same Dataset; may be null. Owned by the caller; must
  /// outlive the Loader. Changes no byte of any batch, except training images that a DiskCache shrinks.
  ImageStore* cache = nullptr;
  /// Gets the hash of every image as it is decoded; may be null. For the samples of the Dataset. Owned by the caller.
  PixelHashes* pixel_hashes = nullptr;
  /// Makes every file as slow as such storage would be; may be null. Owned by the caller.
  EmulatedStorage* storage = nullptr;
  /// Drops every file from the page cache before it is read, as far as the system lets it: for measuring.
  bool is_cold = false;
};

/// Batches of an epoch that a Loader with these options would give, on every rank (chain.h); touches no image.
[[nodiscard]] std::int64_t steps_per_epoch(const Dataset& dataset, const std::vector<std::uint32_t>& samples,
                                           const LoaderOptions& options);

/// Returns `now`, changed to continue at `position` of a run with the options `then`. The rest of that epoch holds
/// exactly the samples that no rank had, except for those that a dropped tail leaves out. Throws ConfigError when the
/// two pipelines differ. Throws it when a pass of the pipeline is no whole number of batches, for example with sharded
/// files (pool_plan.h).
[[nodiscard]] LoaderOptions resume_elsewhere(const Dataset& dataset, const std::vector<std::uint32_t>& samples,
                                             const LoaderOptions& then, const LoaderPosition& position,
                                             LoaderOptions now);

/// The pool. One thread calls next() and release(); the rest is inside.
class Loader final : public BatchSource {
 public:
  /// Starts filling `slots` (at least 1; 2 or more to work ahead) with the samples `samples` (indices into
  /// dataset.samples) at once. `dataset` must outlive the loader. ConfigError: no samples, start beyond an epoch's end,
  /// an epoch without a step (fewer samples than a batch, tail dropped). DataError: labels that are no class index.
  /// ShapeError: a slot of the wrong size.
  Loader(const Dataset& dataset, std::vector<std::uint32_t> samples, LoaderOptions options,
         std::vector<BatchSlot> slots);
  /// Stops the workers after the sample each one is at.
  ~Loader() override;
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// Returns the next batch, in order; waits for it. nullopt after the last one. Throws the error of a worker. Throws
  /// DataError "[data.loader] ..." in evaluation on a corrupt sample, and in training beyond max_bad_share. After a
  /// throw the loader gives no more batches. Throws std::logic_error when the caller holds every slot.
  [[nodiscard]] std::optional<Batch> next() override;
  void release(int slot) override;

  [[nodiscard]] std::int64_t steps_per_epoch() const;  ///< batches of an epoch, as the function
  /// Position of the batch that next() returns next; a checkpoint stores it.
  [[nodiscard]] LoaderPosition position() const;
  /// Indices of the corrupt samples in the batches returned so far and of those known before, ascending. A checkpoint
  /// stores them.
  [[nodiscard]] std::vector<std::uint32_t> bad_samples() const;
  /// Corrupt samples in the batches returned since the last call, for the loaders of other ranks.
  [[nodiscard]] std::vector<FoundBad> take_found_bad();
  /// Counts corrupt samples that the loaders of other ranks met. DataError beyond max_bad_share.
  void unite_bad(const std::vector<FoundBad>& found);
  /// Thread-safe.
  [[nodiscard]] LoaderStats stats() const;
  [[nodiscard]] const Pipeline& pipeline() const;  ///< stages that it carries out
  /// Whether all sizes that the pipeline leaves to tuning are found.
  [[nodiscard]] bool has_settled() const;
  /// Counts of each stage, in order. Thread-safe.
  [[nodiscard]] std::vector<StageReport> report() const;

 private:
  std::unique_ptr<BatchPool> pool_;
};

}  // namespace roentgen::data
