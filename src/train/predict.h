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
  data::Preprocess preprocess{};  ///< defines how an image becomes the network's input
  /// Loss of the network, which decides how logits become probabilities: "sigmoid" or "softmax".
  std::string loss = "sigmoid";
  int workers = 1;  ///< decoding threads, at least 1
  /// Value of data::LoaderOptions::most_readers.
  int most_readers = 32;
  /// Value of data::LoaderOptions::cores.
  std::vector<int> cores{};
  /// Cache of decoded images; may be null, must outlive the call.
  data::ImageStore* cache = nullptr;
  /// Collects the hash of every image's pixels; may be null.
  data::PixelHashes* pixel_hashes = nullptr;
  /// Test-time augmentation (data::test_views). Probabilities are averaged over these views with equal weights, in
  /// double. If empty, each image is used once, unchanged.
  std::vector<data::AugmentDraw> views{};
  /// Called after every batch with the number of images done so far; each view counts as an image. May throw, which
  /// ends the predictions.
  std::function<void(std::int64_t done)> on_progress{};
};

/// Loss of one batch.
struct BatchLoss {
  double loss = 0.0;   ///< mean loss over known labels
  double known = 0.0;  ///< number of known labels
};

/// Result of predict().
struct PredictResult {
  eval::Predictions predictions;  ///< one row per sample, in the order of the samples
  /// Mean loss over known labels and over views; 0 if the graph has no loss.
  double loss = 0.0;
  /// Losses of the batches, in order. With several ranks, only the batches of this rank.
  std::vector<BatchLoss> losses{};
  /// Counts and times of the loader during the last view.
  data::LoaderStats loader;
};

/// Value of engine::CompileOptions::input_norm for an engine whose input slots hold pixels (Engine::slot_dtype): mean
/// and deviation of `preprocess`. Nullopt if the engine expects normalised values.
[[nodiscard]] std::optional<engine::InputNorm> input_norm(const data::Preprocess& preprocess,
                                                          const engine::Engine& engine);

/// Input buffers (slots) for the batches of an executable whose graph has an input "image" and perhaps "labels" and
/// "mask". If the graph has no labels and mask, this object holds memory for them. `owner` must outlive this object.
class SlotMemory {
 public:
  /// Finds or allocates the memory of `slots` slots.
  /// @param label_columns K, or 1 for class indices
  SlotMemory(engine::Executable& owner, int slots, std::int64_t label_columns);
  /// Memory of images, labels and mask in every slot, for a data::Loader.
  [[nodiscard]] std::vector<data::BatchSlot> slots() const { return slots_; }
  /// Number of images in a batch.
  [[nodiscard]] std::int64_t batch() const { return batch_; }
  /// Element type of the images that the engine expects.
  [[nodiscard]] DType dtype() const { return dtype_; }

 private:
  std::vector<std::vector<float>> own_;
  std::vector<data::BatchSlot> slots_;
  std::int64_t batch_ = 0;
  DType dtype_ = DType::F32;
};

/// Predicts the probabilities of `samples` (indices into dataset.samples). The executable must be compiled for
/// inference, with the labels of dataset.label_names in that order. Throws DataError on any unreadable image and on
/// logits that are not finite.
[[nodiscard]] PredictResult predict(engine::Executable& executable, const data::Dataset& dataset,
                                    const std::vector<std::uint32_t>& samples, const PredictOptions& options);

/// Predicts with the samples divided among ranks, in whole batches. All ranks get exactly the digits that one process
/// would get. All ranks must call it, with executables of equal weights.
[[nodiscard]] PredictResult predict(const Ranks& ranks, engine::Executable& executable, const data::Dataset& dataset,
                                    const std::vector<std::uint32_t>& samples, const PredictOptions& options);

/// Options of a loader that fills the slots of `memory` once, in order. Other settings come from `options`.
[[nodiscard]] data::LoaderOptions prediction_loading(const SlotMemory& memory, const PredictOptions& options,
                                                     data::LoadMode mode);

/// Computes probabilities from K logits: 1 / (1 + exp(-z)) each, or softmax over all. Throws DataError naming `image`
/// if a logit is not finite.
void to_probabilities(std::span<const float> logits, std::string_view loss, std::span<float> probabilities,
                      std::string_view image);

/// Header "Image Index,prob_<Label>...": one CSV record, which spans several lines if a label contains a line break.
[[nodiscard]] std::string predictions_header(const std::vector<std::string>& labels);
/// Rows of the CSV file, one per image.
[[nodiscard]] std::string predictions_rows(const eval::Predictions& predictions);
/// Text of the whole CSV file: header and rows.
[[nodiscard]] std::string predictions_csv(const eval::Predictions& predictions);

}  // namespace roentgen::train
