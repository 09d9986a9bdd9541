// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Error bounds of the CUDA engine in the conformance cases, on a GPU and emulated. Test code only.
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

/// True if the graph has an op with a kink, such as ReLU or a maximum, where rounding may switch a gradient on or off.
[[nodiscard]] inline bool has_kink(const graph::Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const graph::Node& node) {
    const auto* norm = std::get_if<graph::BatchNorm>(&node.op);
    return (norm != nullptr && norm->relu) || std::holds_alternative<graph::Relu>(node.op) ||
           std::holds_alternative<graph::MaxPool>(node.op);
  });
}

/// Returns the factor for a case's error bounds in bf16.
///
/// Storing in bf16 has a relative error of at most 2^-8, with a root mean square below half of that. Roundings of
/// consecutive ops add up like a random walk. The bound is twice that random walk, doubled again for sums. It is larger
/// if large values leave few digits for the variation. It is also larger for graphs with kinks, where rounding switches
/// some gradients of a ReLU or a maximum. One or two of 1,000 values near a kink switch, and each contributes sqrt(1 /
/// 1,000) of the total.
[[nodiscard]] inline double narrow_scale(const conformance::Case& tested) {
  const double margin = tested.name.starts_with("network.")                ? 60.0
                        : has_kink(tested.graph)                           ? 40.0
                        : tested.name.find(".large_") != std::string::npos ? 30.0
                                                                           : 4.0;
  const double bound = margin * 0x1p-9 * std::sqrt(static_cast<double>(tested.graph.nodes().size()));
  return bound / conformance::error_bound(tested.graph);
}

/// Returns the factor for a case's error bounds in f16, which has three more bits of mantissa than bf16. A gradient
/// that switches at a kink causes the same error in both types.
[[nodiscard]] inline double half_scale(const conformance::Case& tested) {
  return narrow_scale(tested) / (has_kink(tested.graph) ? 1.0 : 8.0);
}

/// Returns the factor for a case's error bounds in TF32.
///
/// TF32 rounds the factors of products to three more bits of mantissa than bf16, so the error is an eighth of bf16's.
/// It is a quarter on cards that truncate instead of rounding. Graphs with kinks get half of bf16's bound, because a
/// switched gradient causes the same error in both types. Values in memory stay f32, so cases without products keep the
/// bound of f32.
[[nodiscard]] inline double tf32_scale(const conformance::Case& tested) {
  const auto products = std::ranges::count_if(tested.graph.nodes(), [](const graph::Node& node) {
    return std::holds_alternative<graph::Conv2d>(node.op) || std::holds_alternative<graph::Linear>(node.op);
  });
  if (products == 0) return 1.0;
  return narrow_scale(tested) / (has_kink(tested.graph) ? 2.0 : 4.0);
}

/// Returns the precisions of the CUDA engine with their error bounds.
[[nodiscard]] inline std::vector<conformance::Precision> precisions() {
  return {conformance::kF32,
          {.dtype = ComputeType::tf32(), .bound_scale = &tf32_scale, .gradient_floor = 0.05},
          {.dtype = DType::Bf16, .bound_scale = &narrow_scale, .gradient_floor = 0.05},
          {.dtype = DType::F16, .bound_scale = &half_scale, .gradient_floor = 0.05}};
}

/// Returns options to run a case with these compile options and the error bounds of their precision.
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
