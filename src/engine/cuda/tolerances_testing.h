// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tolerances of the CUDA engine in the conformance cases, on a device and emulated. Test code only.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <variant>

#include "engine/conformance/bounds.h"
#include "engine/conformance/conformance.h"

namespace roentgen::engine::cuda {

/// Some op that a rounding may turn: a ReLU near 0, a maximum of nearly equal values.
[[nodiscard]] inline bool has_kink(const graph::Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const graph::Node& node) {
    const auto* norm = std::get_if<graph::BatchNorm>(&node.op);
    return (norm != nullptr && norm->relu) || std::holds_alternative<graph::Relu>(node.op) ||
           std::holds_alternative<graph::MaxPool>(node.op);
  });
}

/// Factor of the bounds of a case in bf16.
///
/// A value stored in bf16 is off by up to 2^-8, in the mean square by less than half of that. Roundings of one op after
/// another add up like a random walk. The factor is twice that, and as much again for sums. It is larger where large
/// values leave few digits to the variation. It is larger at kinks as well, where roundings turn some gradients of a
/// ReLU or a maximum. Of 1,000 values near a kink one or two turn, each a share of sqrt(1 / 1,000) of the whole.
[[nodiscard]] inline double narrow_scale(const conformance::Case& tested) {
  const double margin = tested.name.starts_with("network.")                ? 60.0
                        : has_kink(tested.graph)                           ? 40.0
                        : tested.name.find(".large_") != std::string::npos ? 30.0
                                                                           : 4.0;
  const double bound = margin * 0x1p-9 * std::sqrt(static_cast<double>(tested.graph.nodes().size()));
  return bound / conformance::error_bound(tested.graph);
}

/// Factor of the bounds of a case in f16, which has three digits more than bf16. One value that turns at a kink weighs
/// as much in either type.
[[nodiscard]] inline double half_scale(const conformance::Case& tested) {
  return narrow_scale(tested) / (has_kink(tested.graph) ? 1.0 : 8.0);
}

/// A run of the case in this form and type: with the tolerances that they need.
[[nodiscard]] inline conformance::RunOptions run_options(const conformance::Case& tested, CompileOptions compile) {
  if (compile.dtype != DType::Bf16 && compile.dtype != DType::F16) return {.compile = std::move(compile)};
  const double scale = compile.dtype == DType::F16 ? half_scale(tested) : narrow_scale(tested);
  return {.compile = std::move(compile), .bound_scale = scale, .gradient_floor = 0.05};
}

}  // namespace roentgen::engine::cuda
