// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Parser of the command line: finds the command in argv and fills in its options.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace roentgen::cli {

/// Result of parsing the command line.
struct Parsed {
  /// Command to run; null if the program should only print `text`.
  Command* command = nullptr;
  /// File named by --json; empty: no JSON is written.
  std::filesystem::path json;
  /// Help or version to print: to standard output, or to standard error if exit_code is not kSuccess.
  std::string text;
  /// Exit code if there is no command to run. kBadInput: the command line has no command, or lacks the options that its
  /// command needs.
  int exit_code = kSuccess;
};

/// Parses the command line and fills in the options of its command. Throws ConfigError, whose text is one line, for
/// unknown words.
[[nodiscard]] Parsed parse_arguments(int argc, const char* const* argv,
                                     const std::vector<std::unique_ptr<Command>>& commands);

/// Throws ConfigError because an option or argument is missing.
/// @param what the command and the option that requires the missing option, such as "eval --labels"
/// @param usage the missing option, such as "--predictions FILE"
[[noreturn]] void refuse_missing(std::string_view what, std::string_view usage);

/// Throws ConfigError for options that cannot be combined.
/// @param what the command and the wrong option, such as "eval --by"
/// @param remedy advice for the user; empty: advises to read the command's help
[[noreturn]] void refuse_arguments(std::string_view what, std::string_view expected, std::string_view got,
                                   std::string_view remedy = {});

}  // namespace roentgen::cli
