// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// From argv to a command with its options filled in.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"

namespace roentgen::cli {

/// What the command line asks for.
struct Parsed {
  /// Null: only `text` is wanted.
  Command* command = nullptr;
  /// --json; empty: not asked for.
  std::filesystem::path json;
  /// Help or version, to print.
  std::string text;
};

/// Parses; fills the options of the command it finds. ConfigError with one line for what it does not understand.
[[nodiscard]] Parsed parse_arguments(int argc, const char* const* argv,
                                     const std::vector<std::unique_ptr<Command>>& commands);

}  // namespace roentgen::cli
