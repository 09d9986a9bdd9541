// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Card of a published model: its purpose, training data, results, and how to load it.
#pragma once

#include <string>

#include "core/value.h"
#include "data/transform/preprocess.h"
#include "train/checkpoint_info.h"

namespace roentgen::publish {

/// Content of a model card.
struct CardInput {
  train::CheckpointInfo info;
  /// Preprocessing of the published file: that of the checkpoint, or with more channels.
  data::Preprocess preprocess;
  /// Name and SHA-256 of the published file; "onnx" or "safetensors".
  std::string file;
  std::string sha256;
  std::string form;
  /// Temperature: the file divides its logits by it; 1 = as trained.
  double temperature = 1.0;
  /// data.json of the run, for positives per label, and what `roentgen eval --json` wrote, for AUROCs; null = absent.
  Value data;
  Value evaluation;
};

/// The card in Markdown. Names no patient and no image. Throws as check_tables().
[[nodiscard]] std::string model_card(const CardInput& input);

/// Python code that loads the file and prints a probability for each label of one picture.
[[nodiscard]] std::string python_example(const CardInput& input);

}  // namespace roentgen::publish
