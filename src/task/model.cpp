// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "task/model.h"

#include <algorithm>

#include "core/error.h"
#include "graph/text.h"
#include "io/file.h"
#include "models/model.h"

namespace roentgen::task {
namespace {

constexpr std::uint64_t kTextLimitBytes = 16U << 20;

bool is_known(const std::string& name) {
  const auto names = models::model_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

void set_model(train::ModelRecipe& model, const std::string& name_or_file) {
  const bool looks_like_file = name_or_file.find_first_of("/.") != std::string::npos;
  if (!is_known(name_or_file) && (looks_like_file || std::filesystem::exists(name_or_file))) {
    model.file = name_or_file;
    return;
  }
  model.name = name_or_file;
  model.file.clear();
}

std::int64_t own_image_px(const train::ModelRecipe& model) {
  return model.file.empty() ? models::own_image_px(model.name) : ModelShape{}.image_px;
}

graph::Graph make_model(const train::ModelRecipe& model, const ModelShape& shape) {
  if (!model.file.empty()) {
    const std::string text = io::read_text(model.file, kTextLimitBytes).or_throw<ConfigError>();
    return graph::parse_graph(
               text, model.file,
               {.batch = shape.batch, .channels = shape.channels, .image_px = shape.image_px, .labels = shape.labels})
        .or_throw<ConfigError>();
  }
  return models::build_model({.name = model.name,
                              .labels = shape.labels,
                              .channels = shape.channels,
                              .image_px = shape.image_px,
                              .batch = shape.batch,
                              .width = model.width,
                              .stem = models::parse_stem(model.stem),
                              .stride = models::parse_resnet_stride(model.resnet),
                              .dilated_stages = model.dilated_stages,
                              .auxiliary = model.auxiliary});
}

std::optional<graph::Graph> graph_of_file(const std::string& name_or_file, const ModelShape& shape) {
  train::ModelRecipe model;
  set_model(model, name_or_file);
  if (model.file.empty()) return std::nullopt;
  return make_model(model, shape);
}

}  // namespace roentgen::task
