// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Command: one verb of the program. It describes its options as plain structs, so that only arguments.cpp knows the
// parser.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/value.h"

namespace roentgen::cli {

/// Where an option's value goes. bool: a flag without value. vector: may be given often.
using Target =
    std::variant<bool*, std::int64_t*, double*, std::string*, std::filesystem::path*, std::vector<std::string>*>;

/// Whether an option must be given.
enum class Need : std::uint8_t { Optional, Required };

/// One option. The value the target holds is the default.
struct Option {
  /// "--out", or "DIR" for an argument without a name.
  std::string name;
  Target target;
  std::string doc;
  Need need = Need::Optional;
  /// The command writes this file.
  bool is_output = false;
  /// What stands for the value in help and errors: "FILE"; empty: by the target's type.
  std::string value_name = {};
  /// Numbers it takes, both ends included.
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
};

using Paths = std::vector<std::filesystem::path>;

/// Folders and files that bound where a command may write. Empty: none.
struct Folders {
  /// Never written to.
  std::filesystem::path data;
  /// Made by the command itself.
  std::filesystem::path made;
  /// Files and folders that the command itself writes, below `made`: no option may name one.
  Paths own = {};
  /// Files and folders that the command only reads: no output may be one, or lie in one.
  Paths read = {};
};

/// Exit codes.
inline constexpr int kSuccess = 0;
/// Something failed that is not the user's input.
inline constexpr int kFailure = 1;
/// Bad option, file, recipe or data.
inline constexpr int kBadInput = 2;
/// Stopped by a signal or a limit, with everything saved: run again with --resume.
inline constexpr int kStopped = 3;

/// What a command gives back.
struct CommandResult {
  /// For --json FILE.
  Value json;
  int exit_code = kSuccess;
  /// Of a process that another one speaks for: writes no --json file.
  bool is_silent = false;
};

/// One verb. One thread.
class Command {
 public:
  virtual ~Command() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// One line.
  [[nodiscard]] virtual std::string_view summary() const = 0;
  /// Command lines that work, one a line.
  [[nodiscard]] virtual std::string_view examples() const = 0;
  /// Options bound to this object's members; valid as long as it lives.
  [[nodiscard]] virtual std::vector<Option> options() = 0;
  /// Those of options() to show in the help of its first argument without a name, `argument` (`bench step --help`).
  [[nodiscard]] virtual std::vector<Option> options_of(std::string_view argument) {
    static_cast<void>(argument);
    return options();
  }
  /// The folders its options name, once they are filled in.
  [[nodiscard]] virtual Folders folders() const { return {}; }
  /// Does it; prints results to standard output, progress to standard error. Throws roentgen::Error.
  [[nodiscard]] virtual CommandResult run() = 0;
};

}  // namespace roentgen::cli
