// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "task/init_recipe.h"

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/plural.h"
#include "io/place.h"

namespace roentgen::task {
namespace {

Value list_of(const std::vector<std::string>& texts) {
  Value list = Value::array();
  for (const std::string& text : texts) list.push_back(text);
  return list;
}

void check_out(const InitOptions& options) {
  std::error_code ignored;
  if (options.out.empty()) return;
  if (std::filesystem::exists(options.out, ignored)) {
    throw ConfigError(error_text("task.init", options.out.string(), "a new file", "an existing file",
                                 "another name with --out, or removing it"));
  }
  io::refuse_inside_data("--out", options.out, options.folder);
  const std::filesystem::path folder = std::filesystem::absolute(options.out, ignored).parent_path();
  if (std::filesystem::is_directory(folder, ignored)) return;
  throw ConfigError(error_text("task.init", options.out.string(), "a file in an existing folder",
                               "no folder " + folder.string(), "another name with --out, or creating the folder"));
}

}  // namespace

void check_init_key(std::string_view key, std::string_view what) {
  if (key.starts_with("data.")) return;
  throw ConfigError(
      error_text("task.init", what, "a key of [data]", "another key", "changing it in the recipe after roentgen init"));
}

InitResult init_recipe(const InitOptions& options) {
  check_out(options);
  data::SourceOptions asked = options.asked;
  asked.root = options.folder;
  InitResult result{.look = look_at_data(asked)};
  result.keys = propose_keys(result.look);
  const train::Recipe recipe = recipe_of(result.keys);
  if (options.on_measuring) options.on_measuring(recipe.model.name);
  result.speed = measure_training_speed(recipe, result.look.dataset, options.limits);
  result.look.unreadable.insert(result.speed.unreadable.begin(), result.speed.unreadable.end());
  result.keys = propose_keys(result.look);
  if (std::string doubt = unreadable_text(result.look); !doubt.empty()) result.look.doubts.push_back(std::move(doubt));
  result.hours = expected_hours(recipe, result.look.dataset, result.speed);
  result.text = proposed_text(result.look, result.keys, result.speed, options.out);
  return result;
}

Value to_value(const InitResult& result, const std::filesystem::path& out) {
  const data::Dataset& dataset = result.look.dataset;
  return Value::Table{{"source", dataset.source},
                      {"images", std::ssize(dataset.samples)},
                      {"labels", list_of(dataset.label_names)},
                      {"split_origin", dataset.split_origin},
                      {"recipe", out.string()},
                      {"images_per_s", result.speed.images_per_s},
                      {"decoded_per_s", result.speed.decoded_per_s},
                      {"hours", result.hours},
                      {"time", time_text(recipe_of(result.keys), dataset, result.speed)},
                      {"limit", result.speed.is_input_bound() ? "input" : "compute"},
                      {"checks", list_of(result.look.doubts)},
                      {"notes", list_of(dataset.notes)},
                      {"next", list_of(next_commands(result.look, out))}};
}

}  // namespace roentgen::task
