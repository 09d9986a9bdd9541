// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Predictions of a compiled model on listed images: each image exactly once, in order, unchanged. Used by validation
// and by `roentgen eval`, so that both compute the same probabilities.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/shape.h"
#include "data/stage/batch.h"
#include "data/transform/augment.h"
#include "data/transform/preprocess.h"
#include "eval/predictions.h"

namespace roentgen::data {
struct Dataset;
class ImageStore;
class PixelHashes;
enum class LoadMode : std::uint8_t;
struct LoaderOptions;
}  // namespace roentgen::data
namespace roentgen::engine {
class Engine;
class Executable;
struct InputNorm;
}  // namespace roentgen::engine

namespace roentgen::train {

class Ranks;

/// Options of predict().
struct PredictOptions {
  data::Preprocess preprocess{};  ///< definition of the network's input
  /// "sigmoid" or "softmax".
  std::string loss = "sigmoid";
  int workers = 1;  ///< decoding threads, at least 1
  /// Value of data::LoaderOptions::most_readers.
  int most_readers = 32;
  /// Value of data::LoaderOptions::cores.
  std::vector<int> cores{};
  /// May be null; must outlive the call.
  data::ImageStore* cache = nullptr;
  /// Collects the hash of every image's pixels; may be null.
  data::PixelHashes* pixel_hashes = nullptr;
  /// Test-time augmentation (data::test_views): probabilities are averaged over these, each of equal weight, summed in
  /// double. Empty, or one that changes nothing: each image as it is, once.
  std::vector<data::AugmentDraw> views{};
  /// Called after every batch with the images done; views count as images. May throw, which ends the predictions.
  std::function<void(std::int64_t done)> on_progress{};
};

/// Loss of one batch: its mean over known labels, and their number.
struct BatchLoss {
  double loss = 0.0;   ///< mean loss over known labels
  double known = 0.0;  ///< number of known labels
};

/// Result of predict().
struct PredictResult {
  eval::Predictions predictions;  ///< one row per sample, in their order
  /// Mean loss over known labels, and over views; 0 when the graph has no loss.
  double loss = 0.0;
  /// Losses of the batches, in order; only those of this rank when there are several.
  std::vector<BatchLoss> losses{};
  /// Counts and times of the loader that read the last view.
  data::LoaderStats loader;
};

/// Pixels in the slots of the input "image", as engine::CompileOptions::input_norm: those that the engine asks for
/// (Engine::slot_dtype), with mean and deviation of `preprocess`. Nullopt: the engine asks for values.
[[nodiscard]] std::optional<engine::InputNorm> input_norm(const data::Preprocess& preprocess,
                                                          const engine::Engine& engine);

/// The batch slots of an executable whose graph has an input "image" and perhaps "labels" and "mask". If the graph
/// lacks labels and mask, this object holds their memory. `owner` must outlive this.
class SlotMemory {
 public:
  /// @param label_columns K, or 1 for class indices
  SlotMemory(engine::Executable& owner, int slots, std::int64_t label_columns);
  /// Images, labels and mask of every slot, for a Loader.
  [[nodiscard]] std::vector<data::BatchSlot> slots() const { return slots_; }
  /// Images of a batch.
  [[nodiscard]] std::int64_t batch() const { return batch_; }
  /// Element type that the engine wants.
  [[nodiscard]] DType dtype() const { return dtype_; }

 private:
  std::vector<std::vector<float>> own_;
  std::vector<data::BatchSlot> slots_;
  std::int64_t batch_ = 0;
  DType dtype_ = DType::F32;
};

/// Probabilities of `samples` (indices into dataset.samples). The executable is of inference form; its labels are
/// dataset.label_names, in that order. DataError on any unreadable image and on logits that are not finite.
[[nodiscard]] PredictResult predict(engine::Executable& executable, const data::Dataset& dataset,
                                    const std::vector<std::uint32_t>& samples, const PredictOptions& options);

/// predict() with the work divided among ranks in runs of whole batches. All ranks get the result of one process, to
/// the last digit. All ranks must call it, with executables of equal weights.
[[nodiscard]] PredictResult predict(const Ranks& ranks, engine::Executable& executable, const data::Dataset& dataset,
                                    const std::vector<std::uint32_t>& samples, const PredictOptions& options);

/// Options of a loader that fills those slots once, in order; the rest comes from `options`.
[[nodiscard]] data::LoaderOptions prediction_loading(const SlotMemory& memory, const PredictOptions& options,
                                                     data::LoadMode mode);

/// Probabilities from logits (K): 1 / (1 + exp(-z)) each, or softmax over all. DataError that names the `image` when
/// one is not finite.
void to_probabilities(std::span<const float> logits, std::string_view loss, std::span<float> probabilities,
                      std::string_view image);

/// "Image Index,prob_<Label>...": one record, of several lines where a label holds a line end.
[[nodiscard]] std::string predictions_header(const std::vector<std::string>& labels);
/// Text of the csv, one row an image.
[[nodiscard]] std::string predictions_rows(const eval::Predictions& predictions);
/// The header and the rows.
[[nodiscard]] std::string predictions_csv(const eval::Predictions& predictions);

}  // namespace roentgen::train
