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

/// A model that is built in, with ModelShape's labels and channels.
struct BuiltInModel {
  std::string_view name;           ///< name of models/model_list.h
  std::string_view summary;        ///< one line
  std::int64_t parameters = 0;     ///< trained ones, auxiliary classifiers included
  std::int64_t multiply_adds = 0;  ///< multiply-adds of one forward of one image
  std::int64_t image_px = 0;       ///< side of the images that it was made for
};

/// All built-in models, in the order of models/model_list.h. Builds the graph of each.
[[nodiscard]] std::vector<BuiltInModel> built_in_models();

/// [{"name", "summary", "parameters", "multiply_adds", "image_px"}].
[[nodiscard]] Value to_value(const std::vector<BuiltInModel>& models);

}  // namespace roentgen::task
