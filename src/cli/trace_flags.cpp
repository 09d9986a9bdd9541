// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/trace_flags.h"

#include "core/error.h"

namespace roentgen::cli {

std::vector<Option> TraceFlags::flags() {
  return {{.name = "--trace", .target = &is_on, .doc = "leave trace.json: what every rank did when, for Perfetto"},
          {.name = "--trace-steps",
           .target = &options.first,
           .doc = "so many updates are in it, and then some",
           .range = {0, 1e9}},
          {.name = "--trace-every", .target = &options.every, .doc = "of the others every so many", .range = {1, 1e9}},
          {.name = "--trace-ranks", .target = &options.most_ranks, .doc = "ranks in it at most", .range = {1, 65536}}};
}

void TraceFlags::check() const {
  if (is_on || options == train::TraceOptions{}) return;
  throw ConfigError(error_text("cli.arguments", "--trace-steps, --trace-every and --trace-ranks", "--trace beside them",
                               "none", "--trace"));
}

std::optional<train::TraceOptions> TraceFlags::chosen() const { return is_on ? std::optional(options) : std::nullopt; }

}  // namespace roentgen::cli
