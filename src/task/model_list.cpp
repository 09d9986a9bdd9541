// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "task/model_list.h"

#include <string>

#include "graph/summary.h"
#include "models/model.h"
#include "task/model.h"

namespace roentgen::task {

std::vector<BuiltInModel> built_in_models() {
  std::vector<BuiltInModel> built_in;
  for (const std::string_view name : models::model_names()) {
    train::ModelRecipe recipe;
    set_model(recipe, std::string(name));
    const std::int64_t image_px = own_image_px(recipe);
    const graph::Summary summary = graph::summarise(make_model(recipe, {.batch = 1, .image_px = image_px}));
    built_in.push_back({.name = name,
                        .summary = models::model_summary(name),
                        .parameters = summary.parameters,
                        .multiply_adds = summary.multiply_adds,
                        .image_px = image_px});
  }
  return built_in;
}

Value to_value(const std::vector<BuiltInModel>& models) {
  Value list = Value::array();
  for (const BuiltInModel& model : models) {
    list.push_back(Value::Table{{"name", model.name},
                                {"summary", model.summary},
                                {"parameters", model.parameters},
                                {"multiply_adds", model.multiply_adds},
                                {"image_px", model.image_px}});
  }
  return list;
}

}  // namespace roentgen::task
