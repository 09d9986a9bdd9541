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

/// A network that weights fit.
struct FittingModel {
  std::string name;       ///< one of models::model_names()
  bool auxiliary = true;  ///< whether it has auxiliary classifiers
  graph::Graph graph;     ///< graph for one image of its own size, with the weights' channels and outputs
};

/// Finds the network and gives the tensors its names (train::rename_tensors()). ConfigError that names the closest
/// network, with the tensors that are missing, unexpected or of another shape.
/// @param name the only network to try; empty: all
/// @param what file name, for errors
[[nodiscard]] FittingModel fit_model(std::vector<train::NamedTensor>& tensors, const std::string& name,
                                     std::string_view what);

}  // namespace roentgen::task
