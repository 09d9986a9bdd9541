// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Runs the cases of engine/conformance on an engine in a precision, for tests. The tests themselves are in
// suite_testing.h.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "engine/conformance/bounds.h"
#include "engine/conformance/conformance.h"
#include "graph/text.h"

namespace roentgen::engine::conformance {

/// Number type that an engine computes with, and the error bounds for it.
struct Precision {
  ComputeType dtype = DType::F32;                ///< CompileOptions::dtype
  double (*bound_scale)(const Case&) = nullptr;  ///< factor for a case's error bounds; null means 1
  double gradient_floor = 0.0;                   ///< RunOptions::gradient_floor
};

/// Returns the factor for a case's error bounds if values are stored in bf16.
///
/// Storing in bf16 has a relative error of at most 2^-8, with a root mean square below half of that. Roundings of
/// consecutive ops add up like a random walk. The bound is twice that random walk, doubled again for sums. It is larger
/// if a mean far from zero leaves few digits for the variation. It is also larger for networks: rounding that moves a
/// value across a ReLU's zero turns its gradient on or off.
inline double bf16_scale(const Case& tested) {
  const double margin = tested.name.starts_with("network.")      ? 60.0
                        : tested.name.starts_with("random.")     ? 40.0
                        : tested.name == "batch_norm.large_mean" ? 30.0
                                                                 : 4.0;
  const double bound = margin * 0x1p-9 * std::sqrt(static_cast<double>(tested.graph.nodes().size()));
  return bound / error_bound(tested.graph);
}

inline const Precision kF32{};  ///< values and products in f32
/// Values in bf16, sums in f32.
inline const Precision kBf16{.dtype = DType::Bf16, .bound_scale = bf16_scale, .gradient_floor = 0.05};

/// Makes the engine under test.
using MakeEngine = std::function<std::unique_ptr<Engine>()>;

/// One test run: a case on one engine in one precision.
struct Trial {
  MakeEngine make;
  Precision precision;
  Case tested;
};

/// Prints case and precision in GoogleTest's messages.
inline void PrintTo(const Trial& trial, std::ostream* out) {
  *out << trial.tested.name << " " << name_of(trial.precision.dtype);
}

/// Returns a trial for each pair of case and precision.
[[nodiscard]] inline std::vector<Trial> trials(const MakeEngine& make, const std::vector<Precision>& precisions,
                                               const std::vector<Case>& cases = all_cases()) {
  std::vector<Trial> all;
  for (const Precision& precision : precisions) {
    for (const Case& tested : cases) all.push_back({.make = make, .precision = precision, .tested = tested});
  }
  return all;
}

/// Returns the test name of a trial, such as "relu_image" or "relu_image_bf16".
inline std::string test_name(const testing::TestParamInfo<Trial>& info) {
  const ComputeType dtype = info.param.precision.dtype;
  std::string name = info.param.tested.name;
  if (dtype != DType::F32) name += "_" + std::string(name_of(dtype));
  std::ranges::replace(name, '.', '_');
  return name;
}

/// Compares an engine's results with the reference in double, for one Trial.
class Conformance : public testing::TestWithParam<Trial> {
 protected:
  /// @param compile options; the trial replaces their dtype
  void expect_passes(CompileOptions compile) {
    const auto& [make, precision, tested] = GetParam();
    compile.dtype = precision.dtype;
    compile.loss_scaling.start = 256.0;  // gradients of batches of a few images are large
    const RunOptions options{.compile = compile,
                             .bound_scale = precision.bound_scale ? precision.bound_scale(tested) : 1.0,
                             .gradient_floor = precision.gradient_floor};
    const Report report = run_case(*make(), tested, options);
    RecordProperty("worst_ratio", std::to_string(report.worst_ratio()));
    EXPECT_TRUE(report.passed()) << report.failures() << graph::print_graph(tested.graph);
  }
};

}  // namespace roentgen::engine::conformance
