// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// train.choices: kernels that were measured by `roentgen bench choose --write`. They replace the rule's choices, on
// this machine and on every other one of its instruction set.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace roentgen::engine {
struct Plan;
}

namespace roentgen::train {

class Ranks;
struct TrainRecipe;

/// Choices by layer (engine::MeasuredChoice::layer).
struct ChoiceFile {
  std::map<std::string, std::string> algorithms;  ///< algorithm by layer
  /// Hash of the file, 64 hex digits.
  std::string sha256;
};

/// The text of such a file, JSON: {"version": 1, "choices": {layer: algorithm}}, sorted by layer.
[[nodiscard]] std::string choice_file_text(const std::map<std::string, std::string>& algorithms);

/// Parses a choice file. ConfigError naming `file` and the key that is missing, unknown or of another kind, and for an
/// empty file.
[[nodiscard]] ChoiceFile parse_choice_file(std::string_view text, const std::filesystem::path& file);

/// Reads the file on rank 0 and broadcasts it. ConfigError when it cannot be read. All ranks must call it.
[[nodiscard]] ChoiceFile shared_choice_file(const Ranks& ranks, const std::filesystem::path& file);

/// ConfigError where a recipe names both a file of choices and algorithms other than "auto", which would ignore it.
void require_rule(const TrainRecipe& recipe);

/// Logs how many choices of a plan come from the file; ConfigError when none does.
void tell_of_measured(const engine::Plan& plan, const std::filesystem::path& file);

}  // namespace roentgen::train
