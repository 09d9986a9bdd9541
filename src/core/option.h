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

/// Variable that takes an option's value. bool: a flag without value. vector: the option may be given often.
using Target =
    std::variant<bool*, std::int64_t*, double*, std::string*, std::filesystem::path*, std::vector<std::string>*>;

/// Whether an option must be given.
enum class Need : std::uint8_t { Optional, Required };

/// One option. The value that the target holds is the default.
struct Option {
  /// "--out", or "DIR" for an argument without a name.
  std::string name;
  Target target;               ///< variable that takes the value; not owned
  std::string doc;             ///< sentence for the help
  Need need = Need::Optional;  ///< whether it must be given
  /// The command writes this file.
  bool is_output = false;
  /// Placeholder of the value in help and errors: "FILE"; empty: by the target's type.
  std::string value_name = {};
  /// Numbers it takes.
  Range range = {};
  /// The command only reads these files and folders: no output may lie in one.
  bool is_input = false;
  /// Value of the command's first argument without a name that has this option ("step" in `bench step`); empty: all.
  std::string case_name = {};
};

/// Options of all groups, in their order.
[[nodiscard]] inline std::vector<Option> joined(std::initializer_list<std::vector<Option>> groups) {
  std::vector<Option> all;
  for (const std::vector<Option>& group : groups) all.insert(all.end(), group.begin(), group.end());
  return all;
}

}  // namespace roentgen
