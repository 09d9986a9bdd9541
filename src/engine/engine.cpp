// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/engine.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/error.h"

namespace roentgen::engine {
namespace {
constexpr std::array<std::string_view, 7> kAlgorithms{"auto",   "direct",    "winograd", "split",
                                                      "split2", "pointwise", "heuristic"};

bool is_trained(const Executable& executable, std::int32_t parameter) {
  return arena_kind(executable.graph().parameter(parameter)) == ArenaKind::Trained;
}
}  // namespace

std::string_view name_of(Algorithms algorithms) { return kAlgorithms.at(static_cast<std::size_t>(algorithms)); }

Algorithms parse_algorithms(std::string_view name) {
  const auto found = std::ranges::find(kAlgorithms, name);
  if (found != kAlgorithms.end()) return static_cast<Algorithms>(found - kAlgorithms.begin());
  throw ConfigError(error_text("engine.options", "algorithms",
                               "auto, direct, winograd, split, split2, pointwise or heuristic", name, "auto"));
}

double Executable::time_entry(std::int32_t entry, int) {
  throw DeviceError(error_text("engine.profile", "entry " + std::to_string(entry),
                               "a device that can time single kernels", "one that cannot", "--device cpu"));
}

std::vector<float> Executable::store(std::int32_t parameter) const {
  return store(parameter, is_trained(*this, parameter) ? parameters() : state());
}

void Executable::load(std::int32_t parameter, std::span<const float> values) {
  load(parameter, values, is_trained(*this, parameter) ? parameters() : state());
}

std::vector<float> Executable::store_gradient(std::int32_t parameter) const {
  if (!is_trained(*this, parameter)) {
    throw ConfigError(error_text("engine.gradient", graph().parameter(parameter).name, "a trained parameter",
                                 "a running statistic, which has no gradient", "another parameter"));
  }
  std::vector<float> values = store(parameter, gradients());
  if (const std::optional<LossScale> scale = read_loss_scale()) {
    for (float& value : values) value = static_cast<float>(value / scale->scale);
  }
  return values;
}

std::string Engine::instruction_set() const { return std::string(name()); }

std::string Engine::least_instruction_set(const std::vector<std::string>& sets) const { return sets.at(0); }

Plan Engine::plan(const graph::Graph& graph, const CompileOptions&) {
  throw DeviceError(error_text("engine.plan", graph.name(), "an engine that can plan without running",
                               std::string(name()), "--device cpu"));
}

std::vector<MeasuredChoice> Engine::measure_choices(const graph::Graph& graph, const CompileOptions&) {
  throw DeviceError(error_text("engine.choice", graph.name(), "an engine with several algorithms to time",
                               std::string(name()), "--device cpu"));
}

ArenaKind arena_kind(const graph::Parameter& parameter) {
  return graph::is_trained(parameter.role) ? ArenaKind::Trained : ArenaKind::State;
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
