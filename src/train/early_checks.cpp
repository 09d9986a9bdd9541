// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/early_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "core/error.h"
#include "core/log.h"
#include "engine/compute_type.h"
#include "engine/device.h"
#include "graph/graph.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "io/toml.h"
#include "train/checkpoint_info.h"
#include "train/import.h"
#include "train/recipe.h"
#include "train/run_folder.h"

namespace roentgen::train {
namespace {

// Keys that may change when a run is resumed: length, speed and tools. train.epochs is among them, although the
// schedules cosine and poly depend on the length of the run; changed_rates() in resumed_run.h warns of this.
constexpr std::string_view kChangeable[] = {
    "train.epochs", "train.early_stop", "train.workers", "train.threads", "train.slots", "train.keep_best",
    "train.keep_last", "train.checkpoint_steps", "train.max_bad", "train.init", "train.init_preset", "train.partial",
    "train.cache_mb", "train.input_cores", "train.cache", "train.cache_dir", "train.memory_mb", "train.bucket_mb",
    // A resume file may be used on any device; compile_run.cpp refuses kernels that differ.
    "train.device", "train.engine",
    // May change with the number of ranks; resumed_run.cpp requires the same number of images per update.
    "train.batch"};

void require(bool holds, std::string_view what, std::string_view expected, std::string_view got,
             std::string_view remedy) {
  if (!holds) throw ConfigError(error_text("train.model", what, expected, got, remedy));
}

std::string value_text(const Value* value) { return value == nullptr ? "nothing" : io::to_json(*value, -1); }

// Throws ConfigError for a batch norm over a single value per channel: its variance is 0, and running statistics would
// be meaningless.
void check_norms(const Recipe& recipe, const graph::Graph& model, int ranks) {
  const bool is_sync = recipe.train.batch_norm == "sync";
  for (const graph::Node& node : model.nodes()) {
    if (std::get_if<graph::BatchNorm>(&node.op) == nullptr) continue;
    constexpr std::size_t kChannels = 1;
    const std::int64_t values = node.shape.elements() / node.shape[kChannels] * (is_sync ? ranks : 1);
    if (values > 1) continue;
    const bool can_sync = ranks > 1 && engine::parse_device(recipe.train.device).is_host();
    require(false, model.name() + ": " + node.name, "at least 2 values per channel to normalise",
            fmt::format("1, from a batch of {} at {}x{} pixels{}", recipe.train.batch, recipe.preprocess.size_px,
                        recipe.preprocess.size_px, ranks > 1 ? " per rank" : ""),
            can_sync ? "a larger train.batch or preprocess.size, or train.batch_norm=sync"
                     : "a larger train.batch or preprocess.size");
  }
}

}  // namespace

void check_model(const Recipe& recipe, const graph::Graph& model, int ranks) {
  const graph::NodeId image = model.find("image");
  const graph::NodeId logits = model.output("logits");
  require(image >= 0 && model.node(image).is_input(), model.name(), "an input named image", "none",
          "adding the line \"input image (N, C, S, S)\" to the graph text");
  require(logits >= 0, model.name(), "an output named logits", "none",
          "adding the line \"output logits = NAME\" to the graph text");
  const data::Preprocess& preprocess = recipe.preprocess;
  const Shape wanted{recipe.train.batch, preprocess.channels, preprocess.size_px, preprocess.size_px};
  const Shape& found = model.node(image).shape;
  require(found == wanted, model.name() + ": image", wanted.text() + ", as the recipe says", found.text(),
          "writing its sizes as N, C and S in the graph text, or another preprocess.size");
  const Shape& shape = model.node(logits).shape;
  require(shape.rank() == 2 && shape[0] == recipe.train.batch, model.name() + ": logits",
          fmt::format("({}, labels)", recipe.train.batch), shape.text(), "adding flatten before the last linear layer");
  check_norms(recipe, model, ranks);
}

void check_dtype(const TrainRecipe& recipe) {
  const bool is_tf32 = recipe.dtype == name_of(engine::ComputeType::tf32());
  const bool needs_cuda = is_tf32 || recipe.dtype == name_of(DType::F16);
  if (!needs_cuda || !engine::parse_device(recipe.device).is_host()) return;
  throw ConfigError(error_text("train.recipe", "train.dtype", "f32, bf16 or auto on the device " + recipe.device,
                               recipe.dtype,
                               is_tf32 ? "--dtype f32, or --device cuda" : "--dtype bf16, or --device cuda"));
}

void check_init(const Recipe& recipe, const graph::Graph& model) {
  const TrainRecipe& options = recipe.train;
  if (options.init.empty()) return;
  ImportSource source = read_import(options.init, options.init_preset);
  std::vector<std::string> labels = source.labels;
  const Import import = adapt(
      std::move(source), {.model = model, .labels = std::move(labels), .preprocess = recipe.preprocess, .seed = 0});
  if (!options.partial) require_fit(compare(import.tensors, model.parameters()), model, options.init);
  require_sound(import.tensors, model.parameters(), options.init);
}

void check_resumed_recipe(Recipe& recipe, const RunFolder& folder) {
  const std::string what = folder.resume().string();
  constexpr std::string_view kRemedy = "--overwrite to start again";
  const auto reader = io::SafetensorsReader::open(folder.resume()).or_throw<ConfigError>();
  const CheckpointInfo info = from_metadata(reader.metadata(), what, kRemedy).or_throw<ConfigError>();
  const Value begun = io::parse_toml(info.recipe, what).or_throw<ConfigError>();
  const Value* algorithms = begun.find_path("train.algorithms");
  std::string& own = recipe.train.algorithms;
  if (algorithms != nullptr && own == TrainRecipe{}.algorithms && algorithms->as_string() != own) {
    own = algorithms->as_string();
    log::debug(fmt::format("kernels: {}, as at the start of the run", own));
  }
  refuse_changed_recipe(begun, io::parse_toml(to_toml(recipe), "recipe").or_throw<ConfigError>());
}

std::optional<ChangedKey> find_changed_key(const Value& first, const Value& other, const KeyRules& rules) {
  for (const Value* keys : {&other, &first}) {  // a key may be in only one of the two recipes
    for (const auto& [section, table] : keys->as_table()) {
      for (const auto& [name, value] : table.as_table()) {
        const std::string key = section + "." + name;
        if (std::ranges::find(rules.changeable, key) != rules.changeable.end()) continue;
        const Value* before = first.find_path(key);
        if (before == nullptr) before = rules.defaults.find_path(key);
        const Value* after = other.find_path(key);
        if (before != nullptr && after != nullptr && *before == *after) continue;
        return ChangedKey{.key = key, .first = value_text(before), .other = value_text(after)};
      }
    }
  }
  return std::nullopt;
}

void refuse_changed_recipe(const Value& begun, const Value& now) {
  // A key that did not exist when the run began gets its present default.
  const auto changed = find_changed_key(begun, now, {.changeable = kChangeable, .defaults = to_value(Recipe{})});
  if (!changed) return;
  throw ConfigError(error_text("train.resume", changed->key, changed->first + ", as at the start of the run",
                               changed->other, "the same recipe and options, or a new --out folder"));
}

}  // namespace roentgen::train
