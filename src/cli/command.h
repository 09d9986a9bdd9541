// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Command: one subcommand of the program, such as `train`. It describes its options as plain structs, so that only
// arguments.cpp depends on the parser library.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/option.h"
#include "core/value.h"

namespace roentgen::cli {

using Paths = std::vector<std::filesystem::path>;

/// Folders and files that a command must not overwrite. An empty member sets no limit.
struct Folders {
  /// Data folder, to which no command writes.
  std::filesystem::path data;
  /// Folder that the command creates.
  std::filesystem::path made;
  /// Files and folders that the command itself writes below `made`; no other output option may name one of them.
  Paths own = {};
  /// Files and folders that the command only reads. No output may replace such a file or lie in such a folder.
  Paths read = {};
  /// Run folders that the command only reads. No output may replace a file of a run or lie in the data folders of a
  /// run.
  Paths runs = {};
};

/// Exit code of a command that succeeded.
inline constexpr int kSuccess = 0;
/// Exit code of a failure that the user's input did not cause.
inline constexpr int kFailure = 1;
/// Exit code for a bad option, file, recipe or data set.
inline constexpr int kBadInput = 2;
/// Exit code of a run that a signal or a limit stopped after saving everything; --resume continues it.
inline constexpr int kStopped = 3;

/// Result of a command.
struct CommandResult {
  /// Content of the file that --json names.
  Value json;
  int exit_code = kSuccess;
  /// True if another process reports the result; this process then writes no --json file.
  bool is_silent = false;
};

/// One subcommand of the program. For use by one thread.
class Command {
 public:
  /// @param summary one line for the list of commands; a string literal, like `name`
  /// @param examples working command lines, one per line
  Command(std::string_view name, std::string_view summary, std::string examples)
      : name_(name), summary_(summary), examples_(std::move(examples)) {}
  virtual ~Command() = default;
  [[nodiscard]] std::string_view name() const { return name_; }
  [[nodiscard]] std::string_view summary() const { return summary_; }
  [[nodiscard]] std::string_view examples() const { return examples_; }
  /// Returns options bound to this object's members; valid as long as the object lives. Several cases may have an
  /// option of the same name, distinguished by Option::case_name.
  [[nodiscard]] virtual std::vector<Option> options() = 0;
  /// True if the command does nothing useful without options; the program then prints its first examples instead.
  [[nodiscard]] virtual bool needs_options() const { return false; }
  /// Folders that the options name. Valid after the options are filled in.
  [[nodiscard]] virtual Folders folders() const { return {}; }
  /// Runs the command. Prints results to standard output and progress to standard error. Throws roentgen::Error.
  [[nodiscard]] virtual CommandResult run() = 0;

 private:
  std::string_view name_;
  std::string_view summary_;
  std::string examples_;
};

}  // namespace roentgen::cli
