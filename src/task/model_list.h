// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Names and cost of the built-in models, for `roentgen models` and Python's models().
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/value.h"

namespace roentgen::task {

/// Built-in model. Its sizes are for ModelShape's default labels and channels.
struct BuiltInModel {
  std::string_view name;           ///< name in models/model_list.h
  std::string_view summary;        ///< one-line description
  std::int64_t parameters = 0;     ///< number of trained parameters, including auxiliary classifiers
  std::int64_t multiply_adds = 0;  ///< multiply-adds of a forward pass for one image
  std::int64_t image_px = 0;       ///< side in pixels of the images that the model is designed for
};

/// Returns all built-in models in the order of models/model_list.h. Builds the graph of each.
[[nodiscard]] std::vector<BuiltInModel> built_in_models();

/// Returns the models for JSON: [{"name", "summary", "parameters", "multiply_adds", "image_px"}].
[[nodiscard]] Value to_value(const std::vector<BuiltInModel>& models);

}  // namespace roentgen::task
