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

/// A key of a recipe and the reason for its value.
struct ProposedKey {
  std::string section;  ///< "model"
  std::string key;      ///< "name"
  Value value{};        ///< value of the key
  std::string reason;   ///< sentence without its full stop
};

/// Keys by section, in the order of a recipe.
[[nodiscard]] std::vector<ProposedKey> propose_keys(const DataLook& look);

/// A doubt about unreadable images with their number, as a sentence; empty: there are none.
[[nodiscard]] std::string unreadable_text(const DataLook& look);

/// The recipe with these keys. Throws ConfigError for an unknown key.
[[nodiscard]] train::Recipe recipe_of(const std::vector<ProposedKey>& keys);

/// Hours of all epochs of a recipe at a speed, validation included: a validation image takes a third of a training
/// image's time. Early stopping makes it less.
[[nodiscard]] double expected_hours(const train::Recipe& recipe, const data::Dataset& dataset,
                                    const TrainingSpeed& speed);

/// Line with the speed, the hours and the bottleneck.
[[nodiscard]] std::string time_text(const train::Recipe& recipe, const data::Dataset& dataset,
                                    const TrainingSpeed& speed);

/// Commands that train, evaluate and predict by the recipe, ready for a shell.
/// @param file the recipe; empty: not written yet
[[nodiscard]] std::vector<std::string> next_commands(const DataLook& look, const std::filesystem::path& file);

/// The recipe as TOML: its purpose, the next commands, time, doubts, and each key below its reason.
[[nodiscard]] std::string proposed_text(const DataLook& look, const std::vector<ProposedKey>& keys,
                                        const std::optional<TrainingSpeed>& speed, const std::filesystem::path& file);

}  // namespace roentgen::task
