// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// train.choices: kernels that were measured by `roentgen bench choose --write`. They replace the choices of the default
// rule, on all machines with the same instruction set.
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

/// Measured choices of kernel algorithms, by layer (engine::MeasuredChoice::layer).
struct ChoiceFile {
  std::map<std::string, std::string> algorithms;  ///< algorithm of each layer
  /// SHA-256 of the file, 64 hex digits.
  std::string sha256;
};

/// Returns the text of a choice file, as JSON: {"version": 1, "choices": {layer: algorithm}}, sorted by layer.
[[nodiscard]] std::string choice_file_text(const std::map<std::string, std::string>& algorithms);

/// Parses a choice file. Throws ConfigError naming `file` if it is empty, or naming the key that is missing, unknown or
/// of the wrong type.
[[nodiscard]] ChoiceFile parse_choice_file(std::string_view text, const std::filesystem::path& file);

/// Reads the file on rank 0 and broadcasts it. Throws ConfigError if it cannot be read. All ranks must call it.
[[nodiscard]] ChoiceFile shared_choice_file(const Ranks& ranks, const std::filesystem::path& file);

/// Throws ConfigError if a recipe sets both train.choices and train.algorithms other than "auto", which would ignore
/// the file.
void require_rule(const TrainRecipe& recipe);

/// Logs how many kernel choices of the plan come from the choice file. Throws ConfigError if none does.
void tell_of_measured(const engine::Plan& plan, const std::filesystem::path& file);

}  // namespace roentgen::train
