// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Model card of a published model: its purpose, training data, results, and how to load it.
#pragma once

#include <string>

#include "core/value.h"
#include "data/transform/preprocess.h"
#include "train/checkpoint_info.h"

namespace roentgen::publish {

/// Inputs of a model card.
struct CardInput {
  train::CheckpointInfo info;
  /// Preprocessing of the published file: as in the checkpoint, possibly changed to three channels.
  data::Preprocess preprocess;
  /// Name, SHA-256 and format ("onnx" or "safetensors") of the published file.
  std::string file;
  std::string sha256;
  std::string form;
  /// Temperature by which the published file divides its logits; 1: unchanged.
  double temperature = 1.0;
  /// Contents of the run's data.json, for the number of positives per label; below, the JSON of `roentgen eval`, for
  /// AUROCs. null: not available.
  Value data;
  Value evaluation;
};

/// Returns a model card in Markdown. Names no patient and no image. Throws as check_tables() does.
[[nodiscard]] std::string model_card(const CardInput& input);

/// Returns Python code that loads the published file and prints the probability of each label for one picture.
[[nodiscard]] std::string python_example(const CardInput& input);

}  // namespace roentgen::publish
