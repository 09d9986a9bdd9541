// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Location of a graph's parameters in the arenas of its plan.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/plan/plan_builder.h"

namespace roentgen::engine {

/// Location and layout of every parameter and state tensor. Parameters are numbered as in the graph given to compile(),
/// because graph passes may reorder them. Immutable; thread-safe.
class ParameterMap {
 public:
  /// @param builder builder of the graph that the passes made from `original`
  /// @param plan plan that finish_plan() finished for `builder`
  ParameterMap(const graph::Graph& original, const PlanBuilder& builder, const Plan& plan);

  /// Slices of trained parameters, in arena order.
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
