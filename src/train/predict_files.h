// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Predictions of images that nothing is known of but their files: batch after batch, in memory that does not grow with
// their number. The same pixels give the same probabilities as predict() (predict.h).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "train/predict.h"

namespace roentgen::train {

/// One image of a batch that was just computed.
struct PredictedImage {
  /// Index into dataset.samples.
  std::uint32_t sample = 0;
  /// Row of the executable's outputs.
  std::int64_t row = 0;
  /// (K); empty when the image could not be read.
  std::vector<float> probabilities;
  /// Why it could not be read: one line that names it. Empty: it could.
  std::string reason;
};

/// Called after every batch with its images, in order; the executable's outputs are those of the batch.
using PredictedBatch = std::function<void(std::span<const PredictedImage> images)>;

/// Every sample of the dataset once, in order, read ahead by options.workers threads. The executable is of inference
/// form. An image that cannot be read is told to `on_batch` and the rest goes on. DataError, naming the image, on
/// logits that are not finite.
void predict_files(engine::Executable& executable, const data::Dataset& dataset, const PredictOptions& options,
                   const PredictedBatch& on_batch);

}  // namespace roentgen::train
