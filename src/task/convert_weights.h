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

/// Weights, with properties that a file of another program may lack. Empty: detected.
struct ForeignWeights {
  std::filesystem::path file;         ///< any form of train::read_weights_file()
  std::string model{};                ///< a name of models::model_names(); empty: the one whose names and shapes fit
  std::vector<std::string> labels{};  ///< names of the outputs
  std::string preset{};               ///< preprocessing, data::preset()
  std::string loss{};                 ///< "sigmoid" or "softmax"
};

/// The resulting checkpoint.
struct ConvertedWeights {
  train::Checkpoint checkpoint;    ///< the network, its weights, input and outputs
  std::string model;               ///< name of the network; empty for a checkpoint of Roentgen
  std::vector<std::string> notes;  ///< assumptions, and parts of the file that are left out, a line each
};

/// Reads weights, all of which must match the network in name and shape. A checkpoint of Roentgen stays unchanged.
///
/// Defaults without options: torchxrayvision's weights get its preprocessing "xrv" and its findings. Other weights of
/// three channels get "imagenet", or (v - 0.5) / 0.5 for GoogLeNet and Inception, as torchvision trained them. Outputs
/// without names are class_0, class_1, and so on. 1,000 outputs get the names of ImageNet and exclude each other
/// (softmax).
[[nodiscard]] ConvertedWeights convert_weights(const ForeignWeights& weights);

}  // namespace roentgen::task
