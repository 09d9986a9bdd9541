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

/// Throws ConfigError unless the model has an input "image" that fits the recipe, and an output "logits" of shape
/// (batch, K) with any K. Throws ConfigError also if a batch norm would train on a single value per channel. That
/// counts the values of one rank, or of all ranks with train.batch_norm=sync.
void check_model(const Recipe& recipe, const graph::Graph& model, int ranks);

/// Throws ConfigError for train.dtype f16 or tf32 on the CPU, which computes only in f32 or bf16. train.device must be
/// resolved (engine::resolve_device()).
void check_dtype(const TrainRecipe& recipe);

/// Throws ConfigError if the weights file of train.init, if set, would not load into the model. Reasons are a missing
/// file, no preprocessing in it, or a tensor that is missing, unexpected or of another shape. The last layer may have
/// another number of labels. Reads the whole file.
void check_init(const Recipe& recipe, const graph::Graph& model);

/// Throws ConfigError if the resume file is invalid, or if its run was started with another recipe. The default of
/// train.algorithms depends on the version: a recipe with the default takes the value of the run, and a log line says
/// so.
void check_resumed_recipe(Recipe& recipe, const RunFolder& folder);

/// Key whose values differ between two recipes, with both values as JSON; "nothing" for a recipe without this key.
struct ChangedKey {
  std::string key;    ///< name, as "section.key"
  std::string first;  ///< value in the first recipe
  std::string other;  ///< value in the other recipe
};

/// Exceptions for find_changed_key().
struct KeyRules {
  /// Keys whose values may differ.
  std::span<const std::string_view> changeable{};
  /// Defaults of keys that the first recipe lacks.
  Value defaults = Value::table();
};

/// Returns the first key in which two recipes differ, or nullopt if they are equal. Recipes are tables of sections.
/// Empty lists and texts are not printed, so a key may be in only one of the two.
[[nodiscard]] std::optional<ChangedKey> find_changed_key(const Value& first, const Value& other,
                                                         const KeyRules& rules = {});

/// Throws ConfigError naming the first key in which two recipes differ, with both values. Ignores keys that a resumed
/// run may change (epochs, early_stop, workers, cache, number of kept files).
void refuse_changed_recipe(const Value& begun, const Value& now);

}  // namespace roentgen::train
