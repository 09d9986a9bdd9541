// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Finds the network that a set of weights belongs to, by names and shapes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "train/weights.h"

namespace roentgen::task {

/// Network whose parameters match given weights.
struct FittingModel {
  std::string name;       ///< one of models::model_names()
  bool auxiliary = true;  ///< whether it has auxiliary classifiers
  /// Graph for one image of the model's default size, with the channels and outputs of the weights.
  graph::Graph graph;
};

/// Finds the network that fits the tensors, and renames them to its parameters (train::rename_tensors()). If none fits,
/// throws ConfigError naming the most similar network and its missing, unexpected or misshapen tensors.
/// @param name the only network to try; if empty, all are tried
/// @param what file name, for errors
[[nodiscard]] FittingModel fit_model(std::vector<train::NamedTensor>& tensors, const std::string& name,
                                     std::string_view what);

}  // namespace roentgen::task
