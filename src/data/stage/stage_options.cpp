// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/stage_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>

#include "core/error.h"

namespace roentgen::data {

std::string_view name_of(Carries carries) {
  constexpr std::array<std::string_view, 5> kNames{"nothing", "files", "samples", "rows", "batches"};
  return kNames.at(static_cast<std::size_t>(carries));
}

Carries carried(std::string_view stage, Carries before, const std::vector<Carries>& allowed, Carries then) {
  if (std::ranges::find(allowed, before) != allowed.end()) return then;
  std::string wanted;
  for (const Carries one : allowed) wanted += (wanted.empty() ? "" : " or ") + std::string(name_of(one));
  throw ConfigError(error_text("data.pipeline", fmt::format("pipeline, stage {}", stage),
                               "a stage before it that yields " + wanted, std::string(name_of(before)),
                               "another order of stages (docs/reference/pipeline.md)"));
}

Carries passed_on(std::string_view stage, Carries before) {
  return carried(stage, before, {Carries::Files, Carries::Samples, Carries::Rows}, before);
}

}  // namespace roentgen::data
