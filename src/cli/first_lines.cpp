// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/first_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace roentgen::cli {

std::string first_steps() {
  return "roentgen needs a command. The most common lines:\n"
         "  roentgen init DIR                                  write a recipe for your images\n"
         "  roentgen train --recipe FILE --data DIR --out run  train a classifier\n"
         "  roentgen predict --checkpoint FILE IMAGES          predict findings\n"
         "roentgen --help lists all commands.";
}

std::string first_lines(const Command& command) {
  constexpr int kMost = 3;
  std::string text = fmt::format("roentgen {} needs options. The most common lines:\n", command.name());
  std::string_view rest = command.examples();
  for (int i = 0; i < kMost && !rest.empty(); ++i) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    text += fmt::format("  {}\n", line);
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  return text + fmt::format("roentgen {} --help lists all options.", command.name());
}

}  // namespace roentgen::cli
