// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Command: one verb of the program. It describes its options as plain structs, so that only arguments.cpp knows the
// parser.
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

/// Folders and files that limit where a command may write. Empty: none.
struct Folders {
  /// Never written to.
  std::filesystem::path data;
  /// Folder that the command creates.
  std::filesystem::path made;
  /// Files and folders that the command itself writes below `made`; no option may name one of them.
  Paths own = {};
  /// Files and folders that the command only reads; no output may replace one or lie in one.
  Paths read = {};
  /// Folders of runs that the command only reads. No output may replace a file of a run or lie in its data folders.
  Paths runs = {};
};

/// Exit codes.
inline constexpr int kSuccess = 0;
/// Something failed that is not the user's input.
inline constexpr int kFailure = 1;
/// Bad option, file, recipe or data.
inline constexpr int kBadInput = 2;
/// Stopped by a signal or a limit, with everything saved: run again with --resume.
inline constexpr int kStopped = 3;

/// Result of a command.
struct CommandResult {
  /// Content of --json FILE.
  Value json;
  int exit_code = kSuccess;
  /// True when another process reports the result; this one writes no --json file.
  bool is_silent = false;
};

/// A command of the program. One thread.
class Command {
 public:
  /// @param summary one line, for the list of commands; as `name` a string literal
  /// @param examples command lines that work, one a line
  Command(std::string_view name, std::string_view summary, std::string examples)
      : name_(name), summary_(summary), examples_(std::move(examples)) {}
  virtual ~Command() = default;
  [[nodiscard]] std::string_view name() const { return name_; }
  [[nodiscard]] std::string_view summary() const { return summary_; }
  [[nodiscard]] std::string_view examples() const { return examples_; }
  /// Options bound to this object's members; valid as long as it lives. One name may belong to several cases, each with
  /// an option of its own (Option::case_name).
  [[nodiscard]] virtual std::vector<Option> options() = 0;
  /// Whether the command can do nothing without options; its first examples are then shown.
  [[nodiscard]] virtual bool needs_options() const { return false; }
  /// Folders that the options name; valid once the options are filled in.
  [[nodiscard]] virtual Folders folders() const { return {}; }
  /// Runs the command; prints results to standard output, progress to standard error. Throws roentgen::Error.
  [[nodiscard]] virtual CommandResult run() = 0;

 private:
  std::string_view name_;
  std::string_view summary_;
  std::string examples_;
};

}  // namespace roentgen::cli
