// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks that need no data folder, whose listing may take minutes. Nothing here changes anything.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/value.h"

namespace roentgen::graph {
class Graph;
}

namespace roentgen::train {

class RunFolder;
struct Recipe;
struct TrainRecipe;

/// Throws ConfigError unless the model has an input "image" that fits the recipe and an output "logits" (batch, K), any
/// K. Throws ConfigError where a batch norm has one value a channel to train on, of one rank or, with
/// train.batch_norm=sync, of all.
void check_model(const Recipe& recipe, const graph::Graph& model, int ranks);

/// Throws ConfigError for train.dtype f16 or tf32 on the host, which computes in f32 or bf16. train.device must be
/// resolved (engine::resolve_device()).
void check_dtype(const TrainRecipe& recipe);

/// Throws ConfigError when the weights file of train.init, if any, would not load into the model. Reasons: no such
/// file, no preprocessing in it, or a tensor that is missing, surplus or of another shape. The head may have another
/// number of labels. Reads the whole file.
void check_init(const Recipe& recipe, const graph::Graph& model);

/// Throws ConfigError when the resume file is invalid, or was started with another recipe. Versions differ in the
/// default of train.algorithms: a recipe with the default takes the value of the run, and a log line says so.
void check_resumed_recipe(Recipe& recipe, const RunFolder& folder);

/// Key whose values differ in two recipes, with both as JSON; "nothing" where a recipe has no such key.
struct ChangedKey {
  std::string key;    ///< "section.key"
  std::string first;  ///< value in the first recipe
  std::string other;  ///< value in the other one
};

/// Rules of find_changed_key().
struct KeyRules {
  /// Keys that may differ.
  std::span<const std::string_view> changeable{};
  /// Defaults of keys that the first recipe lacks.
  Value defaults = Value::table();
};

/// First key in which two recipes differ, as tables of sections; nullopt when they are equal. Empty lists and texts are
/// not printed, so a key may be in only one of the two.
[[nodiscard]] std::optional<ChangedKey> find_changed_key(const Value& first, const Value& other,
                                                         const KeyRules& rules = {});

/// Throws ConfigError naming the first key in which two recipes differ, with both values. Keys that a resumed run may
/// change (epochs, early_stop, workers, cache, kept files) are not compared.
void refuse_changed_recipe(const Value& begun, const Value& now);

}  // namespace roentgen::train
