// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Parameters of a graph in the arenas of its plan.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/plan/plan_builder.h"

namespace roentgen::engine {

/// Place and kernel form of every parameter and state tensor. Parameters are numbered as in the graph that was given to
/// compile(): passes may reorder them. Immutable; thread-safe.
class ParameterMap {
 public:
  /// `builder`: of the graph that passes made of `original`; `plan`: what finish_plan() made of its plan.
  ParameterMap(const graph::Graph& original, const PlanBuilder& builder, const Plan& plan);

  /// Slices of trained parameters, in the order of the arena.
  [[nodiscard]] const std::vector<ParameterSlice>& slices() const { return slices_; }
  /// See Executable::store().
  [[nodiscard]] std::vector<float> store(std::int32_t parameter, const Arena& arena) const;
  /// See Executable::load().
  void load(std::int32_t parameter, std::span<const float> values, Arena& arena) const;

 private:
  struct Place {
    std::string name;
    std::int64_t elements = 0;
    ArenaRange range;
    std::shared_ptr<const ParameterLayout> layout;
  };
  std::vector<Place> places_;
  std::vector<ParameterSlice> slices_;
};

}  // namespace roentgen::engine
