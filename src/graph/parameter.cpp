// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/parameter.h"

#include <cmath>

#include "core/error.h"
#include "core/random.h"
#include "core/text_hash.h"

namespace roentgen::graph {
namespace {
/// Number of inputs that one output sums over: IC/groups KH KW.
double fan_in(const Parameter& parameter) {
  if (parameter.init.fan_in > 0) return static_cast<double>(parameter.init.fan_in);
  if (parameter.shape.rank() < 2 || parameter.shape[0] < 1) {
    throw ConfigError(error_text("graph.parameter", parameter.name, "2 or more axes for an init by fan-in",
                                 parameter.shape.text(), "init=constant:0 or init=normal:0.01"));
  }
  return static_cast<double>(parameter.shape.elements()) / static_cast<double>(parameter.shape[0]);
}

/// Number of outputs that one input contributes to: OC KH KW.
double fan_out(const Parameter& parameter) {
  if (parameter.shape.rank() < 2 || parameter.shape[1] < 1) {
    throw ConfigError(error_text("graph.parameter", parameter.name, "2 or more axes for an init by fan-out",
                                 parameter.shape.text(), "init=constant:0 or init=normal:0.01"));
  }
  return static_cast<double>(parameter.shape.elements()) / static_cast<double>(parameter.shape[1]);
}

std::vector<float> normal_values(Random random, std::size_t count, double sd) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(sd * random.normal());
  return values;
}

std::vector<float> uniform_values(Random random, std::size_t count, double bound) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.uniform(-bound, bound));
  return values;
}
}  // namespace

std::vector<float> initial_values(const Parameter& parameter, std::uint64_t seed) {
  const Random random(seed, RandomStage::Initialise, text_hash(parameter.name));
  const auto count = static_cast<std::size_t>(parameter.shape.elements());
  switch (parameter.init.kind) {
    case Init::Kind::Constant:
      return std::vector<float>(count, static_cast<float>(parameter.init.value));
    case Init::Kind::NormalFanOut:
      return normal_values(random, count, std::sqrt(2.0 / fan_out(parameter)));
    case Init::Kind::NormalFanIn:
      return normal_values(random, count, std::sqrt(2.0 / fan_in(parameter)));
    case Init::Kind::UniformFanIn:
      return uniform_values(random, count, 1.0 / std::sqrt(fan_in(parameter)));
    case Init::Kind::Normal:
      return normal_values(random, count, parameter.init.value);
  }
  RG_ASSERT(!"a known kind of init");
  return {};
}

}  // namespace roentgen::graph
