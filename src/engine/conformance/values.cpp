// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Draws the values of a conformance case's inputs and parameters.
#include <cmath>
#include <span>

#include "core/random.h"
#include "engine/conformance/conformance.h"
#include "engine/reference/reference_run.h"

namespace roentgen::engine::conformance {

std::map<std::string, std::vector<float>> draw_values(const Case& tested, std::uint64_t seed) {
  std::map<std::string, std::vector<float>> values;
  std::uint64_t stream = 0;
  const auto draw = [&](const Shape& shape, auto&& number) {
    Random random(seed, RandomStage::Test, stream++);
    std::vector<float> drawn(static_cast<std::size_t>(shape.elements()));
    for (float& value : drawn) value = static_cast<float>(number(random));
    return drawn;
  };
  for (const graph::Node& node : tested.graph.nodes()) {
    if (node.is_input()) values[node.name] = draw(node.shape, [](Random& random) { return random.normal(); });
  }
  for (const graph::Parameter& parameter : tested.graph.parameters()) {
    const double fan_in = static_cast<double>(parameter.shape.elements()) / static_cast<double>(parameter.shape[0]);
    values[parameter.name] = draw(parameter.shape, [&](Random& random) {
      switch (parameter.role) {
        case graph::Role::Weight:
          return random.normal() / std::sqrt(fan_in);
        case graph::Role::NormScale:
          return random.uniform(0.5, 1.5);
        case graph::Role::RunningMean:
          return random.normal();
        case graph::Role::RunningVariance:
          return random.uniform(0.5, 2.0);
        case graph::Role::Bias:
        case graph::Role::NormShift:
          break;
      }
      return 0.5 * random.normal();
    });
  }
  for (const auto& [name, given] : tested.values) {
    RG_ASSERT(values.contains(name));
    values[name] = given;
  }
  return values;
}

reference::ReferenceRun run_reference(const Case& tested, Form form,
                                      const std::map<std::string, std::vector<float>>& values) {
  reference::ReferenceRun run(tested.graph, form);
  for (const auto& [name, numbers] : values) run.set(name, std::span<const float>(numbers));
  run.forward();
  return run;
}

}  // namespace roentgen::engine::conformance
