// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// From argv to a command with its options filled in.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace roentgen::cli {

/// Parsed command line.
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

/// Throws ConfigError for options that do not go together.
/// @param what "eval --by": the command, and the option at fault
/// @param remedy empty: the help of the command
[[noreturn]] void refuse_arguments(std::string_view what, std::string_view expected, std::string_view got,
                                   std::string_view remedy = {});

}  // namespace roentgen::cli
