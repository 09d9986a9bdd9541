// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Parser of the command line: turns argv into a command with its options filled in.
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
  /// Help or version to print; with another exit code than kSuccess, lines for standard error.
  std::string text;
  /// kBadInput: the command line has no command, or no options for a command that needs some.
  int exit_code = kSuccess;
};

/// Parses the command line and fills the options of its command. Throws ConfigError of one line for unknown words.
[[nodiscard]] Parsed parse_arguments(int argc, const char* const* argv,
                                     const std::vector<std::unique_ptr<Command>>& commands);

/// Throws ConfigError for an option or argument that is missing.
/// @param what "eval --labels": the command, and the option that needs the missing one
/// @param usage "--predictions FILE"
[[noreturn]] void refuse_missing(std::string_view what, std::string_view usage);

/// Throws ConfigError for options that do not go together.
/// @param what "eval --by": the command, and the option at fault
/// @param remedy empty: the help of the command
[[noreturn]] void refuse_arguments(std::string_view what, std::string_view expected, std::string_view got,
                                   std::string_view remedy = {});

}  // namespace roentgen::cli
