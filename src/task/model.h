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

/// Puts a model into a recipe: a known name, else the path of a graph text.
void set_model(train::ModelRecipe& model, const std::string& name_or_file);

/// Shape of a model's input and output.
struct ModelShape {
  std::int64_t batch = 16;      ///< images at a time
  std::int64_t channels = 1;    ///< channels of the input
  std::int64_t image_px = 224;  ///< width and height of the input
  std::int64_t labels = 14;     ///< outputs
};

/// Side of the images that a model was made for, px; ModelShape's for a graph text. ConfigError: unknown name.
[[nodiscard]] std::int64_t own_image_px(const train::ModelRecipe& model);

/// Builds a named model or parses a graph text. ConfigError: unknown name, unreadable file, text with an error (file
/// and line are named).
[[nodiscard]] graph::Graph make_model(const train::ModelRecipe& model, const ModelShape& shape);

/// The graph of a model that is a file; nothing for names. Throws as make_model().
[[nodiscard]] std::optional<graph::Graph> graph_of_file(const std::string& name_or_file, const ModelShape& shape);

}  // namespace roentgen::task
