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

std::string Engine::instruction_set() const { return std::string(name()); }

std::string Engine::least_instruction_set(const std::vector<std::string>& sets) const { return sets.at(0); }

Plan Engine::plan(const graph::Graph& graph, const CompileOptions&) {
  throw DeviceError(
      error_text("engine.plan", graph.name(), "an engine that plans without memory", std::string(name())));
}

std::vector<MeasuredChoice> Engine::measure_choices(const graph::Graph& graph, const CompileOptions&) {
  throw DeviceError(
      error_text("engine.choice", graph.name(), "an engine that chooses between algorithms", std::string(name())));
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
