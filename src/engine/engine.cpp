// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/engine.h"

#include <string>
#include <vector>

#include "core/error.h"

namespace roentgen::engine {

double Executable::time_entry(std::int32_t entry, int) {
  throw DeviceError(error_text("engine.profile", "entry " + std::to_string(entry),
                               "an engine that times single entries", "one that does not"));
}

std::string Engine::machine_kind(int) const { return std::string(name()); }

Plan Engine::plan(const graph::Graph& graph, const CompileOptions&) {
  throw DeviceError(
      error_text("engine.plan", graph.name(), "an engine that plans without memory", std::string(name())));
}

void copy_parameters(const Executable& from, Executable& to) {
  const auto& parameters = from.graph().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    to.load(static_cast<std::int32_t>(i), from.store(static_cast<std::int32_t>(i)));
  }
}

void initialise(Executable& executable, std::uint64_t seed) {
  const auto& parameters = executable.graph().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    executable.load(static_cast<std::int32_t>(i), graph::initial_values(parameters[i], seed));
  }
}

}  // namespace roentgen::engine
