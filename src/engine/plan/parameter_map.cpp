// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/plan/parameter_map.h"

#include <algorithm>

#include "core/error.h"

namespace roentgen::engine {

ParameterMap::ParameterMap(const graph::Graph& original, const PlanBuilder& builder, const Plan& plan) {
  const std::vector<graph::Parameter>& compiled = builder.graph().parameters();
  for (const graph::Parameter& parameter : original.parameters()) {
    const auto found = std::ranges::find(compiled, parameter.name, &graph::Parameter::name);
    RG_ASSERT(found != compiled.end());
    const auto& [tensor, gradient, layout] = builder.places[static_cast<std::size_t>(found - compiled.begin())];
    const std::size_t offset = plan.tensors[static_cast<std::size_t>(tensor)].offset;
    const ArenaRange range{static_cast<std::int64_t>(offset / sizeof(float)), layout->elements()};
    if (graph::is_trained(parameter.role)) {
      slices_.push_back({static_cast<std::int32_t>(places_.size()), range.begin, range.count});
    }
    places_.push_back({parameter.name, parameter.shape.elements(), range, layout});
  }
  std::ranges::sort(slices_, {}, &ParameterSlice::begin);
}

std::vector<float> ParameterMap::store(std::int32_t parameter, const Arena& arena) const {
  const Place& place = places_.at(static_cast<std::size_t>(parameter));
  std::vector<float> kernel(static_cast<std::size_t>(place.range.count));
  arena.download(place.range.begin, kernel);
  std::vector<float> plain(static_cast<std::size_t>(place.elements));
  place.layout->to_plain(kernel, plain);
  return plain;
}

void ParameterMap::load(std::int32_t parameter, std::span<const float> values, Arena& arena) const {
  const Place& place = places_.at(static_cast<std::size_t>(parameter));
  if (std::ssize(values) != place.elements) {
    throw ShapeError(error_text("engine.plan", "parameter " + place.name, std::to_string(place.elements) + " values",
                                std::to_string(values.size()), "weights of the same model"));
  }
  std::vector<float> kernel(static_cast<std::size_t>(place.range.count));
  place.layout->to_kernel(values, kernel);
  arena.upload(place.range.begin, kernel);
}

}  // namespace roentgen::engine
