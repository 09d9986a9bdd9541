// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Options of commands that can leave a trace.
#pragma once

#include <optional>
#include <vector>

#include "cli/command.h"
#include "train/trace_options.h"

namespace roentgen::cli {

/// As on the command line.
struct TraceFlags {
  bool is_on = false;
  train::TraceOptions options;

  /// --trace, --trace-steps, --trace-every, --trace-ranks; bound to this object's members.
  [[nodiscard]] std::vector<Option> flags();
  /// ConfigError where the others are given without --trace, and would say nothing.
  void check() const;
  /// Nothing without --trace.
  [[nodiscard]] std::optional<train::TraceOptions> chosen() const;
};

}  // namespace roentgen::cli
