// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/choice_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/log.h"
#include "core/value.h"
#include "dist/comm_thread.h"
#include "engine/plan.h"
#include "io/file.h"
#include "io/json.h"
#include "io/sha256.h"
#include "train/ranks.h"
#include "train/recipe.h"

namespace roentgen::train {
namespace {

constexpr std::int64_t kVersion = 1;
constexpr std::string_view kRemedy = "a file written by roentgen bench choose --write";

[[noreturn]] void refuse(const std::filesystem::path& file, std::string_view expected, const std::string& got,
                         std::string_view remedy = kRemedy) {
  throw ConfigError(error_text("train.choices", file.string(), expected, got, remedy));
}

}  // namespace

std::string choice_file_text(const std::map<std::string, std::string>& algorithms) {
  Value choices = Value::table();
  for (const auto& [layer, algorithm] : algorithms) choices.set(layer, algorithm);
  return io::to_json(Value::Table{{"version", kVersion}, {"choices", std::move(choices)}}) + "\n";
}

ChoiceFile parse_choice_file(std::string_view text, const std::filesystem::path& file) {
  const Value table = io::parse_json(text, file.string()).or_throw<ConfigError>();
  if (!table.is_table()) refuse(file, "a JSON object", "another JSON type");
  const Value* version = table.find("version");
  if (version == nullptr || !version->is_integer() || version->as_integer() != kVersion) {
    refuse(file, fmt::format("version {}", kVersion), version == nullptr ? "none" : io::to_json(*version, -1));
  }
  const Value* choices = table.find("choices");
  if (choices == nullptr || !choices->is_table()) refuse(file, "a JSON object under the key choices", "none");
  for (const auto& [key, value] : table.as_table()) {
    if (key != "version" && key != "choices") refuse(file, "no keys except version and choices", key);
  }
  ChoiceFile read{.algorithms = {}, .sha256 = io::sha256_hex(text)};
  for (const auto& [layer, algorithm] : choices->as_table()) {
    if (!algorithm.is_string()) refuse(file, "the name of an algorithm for layer " + layer, io::to_json(algorithm, -1));
    read.algorithms[layer] = algorithm.as_string();
  }
  if (read.algorithms.empty()) refuse(file, "at least one choice", "none");
  return read;
}

ChoiceFile shared_choice_file(const Ranks& ranks, const std::filesystem::path& file) {
  std::string text;
  if (ranks.is_first()) text = io::read_text(file).or_throw<ConfigError>();
  return parse_choice_file(ranks.broadcast(std::move(text), {.name = "train.choices"}), file);
}

void require_rule(const TrainRecipe& recipe) {
  if (recipe.choices.empty() || recipe.algorithms == "auto") return;
  throw ConfigError(error_text("train.choices", recipe.choices,
                               "train.algorithms = \"auto\", which train.choices needs", recipe.algorithms,
                               "removing one of the two keys"));
}

void tell_of_measured(const engine::Plan& plan, const std::filesystem::path& file) {
  const auto choices =
      std::ranges::count_if(plan.choices, [](const auto& choice) { return choice.first != engine::kDtypeChoice; });
  if (plan.measured_choices == 0) {
    refuse(file, "choices for this network, batch, number of threads and instruction set", "none",
           "roentgen bench choose with these settings");
  }
  log::debug(
      fmt::format("kernels: {} of {} choices taken from the measurements in {}, the others from the default rule",
                  plan.measured_choices, choices, file.string()));
}

}  // namespace roentgen::train
