// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Builds a graph from the name of a model or a file of a graph, and a recipe's [model] section.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "graph/graph.h"
#include "train/recipe.h"

namespace roentgen::task {

/// Sets the model of a recipe. A text that is not the name of a model is the path of a graph file.
void set_model(train::ModelRecipe& model, const std::string& name_or_file);

/// Input and output sizes of a model.
struct ModelShape {
  std::int64_t batch = 16;      ///< images per batch
  std::int64_t channels = 1;    ///< number of input channels
  std::int64_t image_px = 224;  ///< width and height of the input, px
  std::int64_t labels = 14;     ///< number of outputs
};

/// Side in pixels of the images that a model is designed for; ModelShape's default for a graph file. Throws ConfigError
/// for an unknown name.
[[nodiscard]] std::int64_t own_image_px(const train::ModelRecipe& model);

/// Builds a named model or parses a graph file. Throws ConfigError for an unknown name, an unreadable file, or an error
/// in the file, naming file and line.
[[nodiscard]] graph::Graph make_model(const train::ModelRecipe& model, const ModelShape& shape);

/// Parses the graph if the argument is a file; nullopt if it is the name of a model. Throws as make_model() does.
[[nodiscard]] std::optional<graph::Graph> graph_of_file(const std::string& name_or_file, const ModelShape& shape);

}  // namespace roentgen::task
