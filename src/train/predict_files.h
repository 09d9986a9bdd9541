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

/// Batch size to predict so many images with, at most `most` and at least 8. A batch of one uses another matrix product
/// whose last bit may differ. Then an image alone would get other digits than among others.
[[nodiscard]] std::int64_t batch_for(std::int64_t images, std::int64_t most);

/// An image of a batch that was just computed.
struct PredictedImage {
  /// Index into dataset.samples, or among the images in memory.
  std::uint32_t sample = 0;
  /// Row of the executable's outputs.
  std::int64_t row = 0;
  /// (K); empty when the image could not be read.
  std::vector<float> probabilities;
  /// Reason why it could not be read: one line that names it. Empty: it was read.
  std::string reason;
};

/// Called after every batch with its images, in order; the executable's outputs are those of the batch.
using PredictedBatch = std::function<void(std::span<const PredictedImage> images)>;

/// Predicts every sample of the dataset once, in order, read ahead by options.workers threads. The executable is of
/// inference form. An image that cannot be read is reported to `on_batch`, and the others continue. Throws DataError,
/// naming the image, on logits that are not finite.
void predict_files(engine::Executable& executable, const data::Dataset& dataset, const PredictOptions& options,
                   const PredictedBatch& on_batch);

/// Predicts decoded images instead of files, each once, in order. Uses only loss, preprocess and on_progress of
/// `options`. Equal pixels in a file give the same probabilities, except for JPEG files decoded at reduced size.
/// DataError, naming the image's number, on logits that are not finite.
void predict_images(engine::Executable& executable, std::span<const data::Image> images, const PredictOptions& options,
                    const PredictedBatch& on_batch);

}  // namespace roentgen::train
