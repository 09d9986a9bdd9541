// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Option: an option of a command or of a benchmark case as plain data. The parser lives in cli/arguments.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <variant>
#include <vector>

#include "core/range.h"

namespace roentgen {

/// Variable that receives an option's value. bool: a flag without value. vector: the option may occur several times.
using Target =
    std::variant<bool*, std::int64_t*, double*, std::string*, std::filesystem::path*, std::vector<std::string>*>;

/// Whether an option must be given.
enum class Need : std::uint8_t { Optional, Required };

/// One option of a command. The value of the target before parsing is the default.
struct Option {
  /// Name, such as "--out"; "DIR" for a positional argument.
  std::string name;
  Target target;               ///< variable that receives the value; not owned
  std::string doc;             ///< sentence for the help text
  Need need = Need::Optional;  ///< whether the option must be given
  /// True if the command writes to this file.
  bool is_output = false;
  /// Placeholder of the value in help and errors, such as "FILE". If empty, it depends on the type of the target.
  std::string value_name = {};
  /// Range of valid numbers.
  Range range = {};
  /// True for files and folders that the command only reads: no output may lie in them.
  bool is_input = false;
  /// First positional argument for which the option exists ("step" in `bench step`); empty: for all.
  std::string case_name = {};
  /// True for a text "true" or "false" that may be left out: "--xla" means "--xla=true", and "--noxla" "--xla=false".
  bool is_switch = false;
};

/// Joins several lists of options, in their order.
[[nodiscard]] inline std::vector<Option> joined(std::initializer_list<std::vector<Option>> groups) {
  std::vector<Option> all;
  for (const std::vector<Option>& group : groups) all.insert(all.end(), group.begin(), group.end());
  return all;
}

}  // namespace roentgen
