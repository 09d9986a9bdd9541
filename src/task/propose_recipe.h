// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Proposes a recipe for a data set: every key with its reason, and the expected hours for a training speed. Pure:
// data_look.h reads the folder, training_speed.h measures, init_recipe.h combines them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "task/data_look.h"
#include "task/training_speed.h"
#include "train/recipe.h"

namespace roentgen::task {

/// Proposed value of a recipe key, and the reason for it.
struct ProposedKey {
  std::string section;  ///< section, such as "model"
  std::string key;      ///< key, such as "name"
  Value value{};        ///< proposed value
  std::string reason;   ///< reason, a sentence without its full stop
};

/// Proposes keys for the data, by section in the order of a recipe.
[[nodiscard]] std::vector<ProposedKey> propose_keys(const DataLook& look);

/// Sentence about the number of unreadable images; empty if there are none.
[[nodiscard]] std::string unreadable_text(const DataLook& look);

/// Makes the recipe with these keys. Throws ConfigError for an unknown key.
[[nodiscard]] train::Recipe recipe_of(const std::vector<ProposedKey>& keys);

/// Expected hours of all epochs at this speed. Includes validation, where an image takes a third of the time of a
/// training image. Early stopping may end sooner.
[[nodiscard]] double expected_hours(const train::Recipe& recipe, const data::Dataset& dataset,
                                    const TrainingSpeed& speed);

/// One line with training speed, hours and bottleneck.
[[nodiscard]] std::string time_text(const train::Recipe& recipe, const data::Dataset& dataset,
                                    const TrainingSpeed& speed);

/// Shell commands that train, evaluate and predict with the recipe.
/// @param file file of the recipe; empty if it is not written yet
[[nodiscard]] std::vector<std::string> next_commands(const DataLook& look, const std::filesystem::path& file);

/// Formats the recipe as TOML with comments: its purpose, the next commands, time, doubts, and the reason above each
/// key.
[[nodiscard]] std::string proposed_text(const DataLook& look, const std::vector<ProposedKey>& keys,
                                        const std::optional<TrainingSpeed>& speed, const std::filesystem::path& file);

}  // namespace roentgen::task
