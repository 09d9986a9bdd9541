// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Predictions of image files without labels, batch after batch, in memory that does not grow with their number. Equal
// pixels give the same probabilities as predict() (predict.h).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "train/predict.h"

namespace roentgen::data {
class Image;
}

namespace roentgen::train {

/// Returns the batch size for predicting `images` images, at most `most` and at least 8. A batch of one would use
/// another matrix product whose last bit may differ. An image alone would then get other digits than among others.
[[nodiscard]] std::int64_t batch_for(std::int64_t images, std::int64_t most);

/// Prediction of one image in the last computed batch.
struct PredictedImage {
  /// Index into dataset.samples, or into the images in memory.
  std::uint32_t sample = 0;
  /// Row of the executable's outputs.
  std::int64_t row = 0;
  /// Probabilities of the K labels; empty if the image could not be read.
  std::vector<float> probabilities;
  /// Reason why the image could not be read, one line that names it. Empty if it was read.
  std::string reason;
};

/// Callback after every batch, with its images in order. During the call, the outputs of the executable are those of
/// this batch.
using PredictedBatch = std::function<void(std::span<const PredictedImage> images)>;

/// Predicts every sample of the dataset once, in order; options.workers threads read ahead. The executable must be
/// compiled for inference. If an image cannot be read, `on_batch` gets the reason and the prediction continues. Throws
/// DataError naming the image if its logits are not finite.
void predict_files(engine::Executable& executable, const data::Dataset& dataset, const PredictOptions& options,
                   const PredictedBatch& on_batch);

/// Predicts decoded images instead of files, each once, in order. Uses only loss, preprocess and on_progress of
/// `options`. An image file with the same pixels gets the same probabilities, except for JPEG files decoded at reduced
/// size. Throws DataError with the number of the image if its logits are not finite.
void predict_images(engine::Executable& executable, std::span<const data::Image> images, const PredictOptions& options,
                    const PredictedBatch& on_batch);

}  // namespace roentgen::train
