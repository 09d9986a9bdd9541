// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Converts weights of other programs to a checkpoint: finds their network, input and outputs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "train/load_checkpoint.h"

namespace roentgen::task {

/// Weights file of another program, with properties that the file may lack. Empty properties are detected.
struct ForeignWeights {
  std::filesystem::path file;  ///< file in any form that train::read_weights_file() accepts
  std::string model{};  ///< network, one of models::model_names(); if empty, the network whose names and shapes fit
  std::vector<std::string> labels{};  ///< names of the outputs
  std::string preset{};               ///< name of the preprocessing (data::preset())
  std::string loss{};                 ///< loss of the network: "sigmoid" or "softmax"
};

/// Result of convert_weights().
struct ConvertedWeights {
  train::Checkpoint checkpoint;    ///< network with weights, preprocessing and labels
  std::string model;               ///< name of the network; empty if the file is a checkpoint of Roentgen
  std::vector<std::string> notes;  ///< assumptions, and parts of the file that are not used, one line each
};

/// Converts weights to a checkpoint. All tensors must match the network in name and shape. A checkpoint of Roentgen is
/// returned unchanged.
///
/// Defaults: torchxrayvision's weights get the preprocessing "xrv" and torchxrayvision's findings as labels. Other
/// weights of three channels get "imagenet", or (v - 0.5) / 0.5 for GoogLeNet and Inception, as torchvision trained
/// them. Outputs without names are called class_0, class_1, and so on. 1,000 outputs get ImageNet's class names and a
/// softmax.
[[nodiscard]] ConvertedWeights convert_weights(const ForeignWeights& weights);

}  // namespace roentgen::task
