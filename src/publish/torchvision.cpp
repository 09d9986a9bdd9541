// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "publish/torchvision.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "io/json.h"
#include "publish/run_tables.h"
#include "train/recipe.h"

namespace roentgen::publish {
namespace {

// True if `name` is a valid Python identifier, as constructor names are.
bool is_identifier(std::string_view name) {
  return !name.empty() &&
         std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

std::string setting(std::string_view key, const Value& value) {
  return "model." + std::string(key) + " = " + io::to_json(value, -1);
}

}  // namespace

std::string torchvision_obstacle(const Value& recipe) {
  const std::pair<std::string_view, Value> wanted[] = {{"file", ""},       {"width", 64},         {"stem", "imagenet"},
                                                       {"resnet", "v1.5"}, {"dilated_stages", 0}, {"auxiliary", true}};
  for (const auto& [key, value] : wanted) {
    const Value* found = find(recipe, {"model", key});
    if (found != nullptr && *found != value) return setting(key, *found);
  }
  const Value* name = find(recipe, {"model", "name"});
  if (name == nullptr) return "";
  const bool is_there = name->is_string() && is_identifier(name->as_string()) && name->as_string() != "inception_v4";
  return is_there ? "" : setting("name", *name);
}

std::string torchvision_note(const train::Recipe& recipe) {
  const std::string obstacle = torchvision_obstacle(train::to_value(recipe));
  if (obstacle.empty()) return obstacle;
  return fmt::format(
      "{}: torchvision has no such network, so that weights will load there as bare tensors only; roentgen export "
      "writes ONNX, which runs anywhere",
      obstacle);
}

}  // namespace roentgen::publish
