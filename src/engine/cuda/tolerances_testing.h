// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tolerances of the CUDA engine in the conformance cases, on a device and emulated. Test code only.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "engine/conformance/bounds.h"
#include "engine/conformance/conformance.h"
#include "engine/conformance/conformance_testing.h"

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

/// Factor of the bounds of a case in TF32.
///
/// Factors of products are rounded to three bits more than bf16 has. That is an eighth of bf16's error, or a quarter if
/// a card cuts bits off instead. With kinks half of bf16's bound: one value that turns weighs as much in either type.
/// Values in memory keep f32's bits, so cases without products keep f32's bound.
[[nodiscard]] inline double tf32_scale(const conformance::Case& tested) {
  const auto products = std::ranges::count_if(tested.graph.nodes(), [](const graph::Node& node) {
    return std::holds_alternative<graph::Conv2d>(node.op) || std::holds_alternative<graph::Linear>(node.op);
  });
  if (products == 0) return 1.0;
  return narrow_scale(tested) / (has_kink(tested.graph) ? 2.0 : 4.0);
}

/// Precisions of the CUDA engine, with their tolerances.
[[nodiscard]] inline std::vector<conformance::Precision> precisions() {
  return {conformance::kF32,
          {.dtype = ComputeType::tf32(), .bound_scale = &tf32_scale, .gradient_floor = 0.05},
          {.dtype = DType::Bf16, .bound_scale = &narrow_scale, .gradient_floor = 0.05},
          {.dtype = DType::F16, .bound_scale = &half_scale, .gradient_floor = 0.05}};
}

/// A run of the case in this form and type: with the tolerances that they need.
[[nodiscard]] inline conformance::RunOptions run_options(const conformance::Case& tested, CompileOptions compile) {
  for (const conformance::Precision& precision : precisions()) {
    if (precision.dtype != compile.dtype || precision.bound_scale == nullptr) continue;
    return {.compile = std::move(compile),
            .bound_scale = precision.bound_scale(tested),
            .gradient_floor = precision.gradient_floor};
  }
  return {.compile = std::move(compile)};
}

}  // namespace roentgen::engine::cuda
