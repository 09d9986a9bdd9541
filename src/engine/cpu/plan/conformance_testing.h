// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// For tests: the cases of engine/conformance on the CPU engine, on all that the machine has or on a part of it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <ostream>
#include <ranges>
#include <string>
#include <vector>

#include "engine/conformance/bounds.h"
#include "engine/conformance/conformance.h"
#include "graph/text.h"

namespace roentgen::engine::conformance {

/// For GoogleTest's messages.
inline void PrintTo(const Case& tested, std::ostream* out) { *out << tested.name; }

/// The case's name as GoogleTest takes it.
inline std::string test_name(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.name;
  for (char& c : name) {
    if (c == '.') c = '_';
  }
  return name;
}

/// What bounds are multiplied with where values are stored in bf16.
///
/// A value stored in bf16 is off by up to 2^-8, in the mean square by less than half of that; what one op after the
/// other rounds adds up as a random walk does. Twice that, and as much again for sums; more where a mean far from zero
/// leaves few digits to what varies, and in networks, where a ReLU whose zero a rounding crosses passes or stops a
/// gradient.
inline double bf16_scale(const Case& tested) {
  const double margin = tested.name.starts_with("network.")      ? 60.0
                        : tested.name.starts_with("random.")     ? 40.0
                        : tested.name == "batch_norm.large_mean" ? 30.0
                                                                 : 4.0;
  const double bound = margin * 0x1p-9 * std::sqrt(static_cast<double>(tested.graph.nodes().size()));
  return bound / error_bound(tested.graph);
}

/// Every case on the CPU engine.
class Conformance : public testing::TestWithParam<Case> {
 protected:
  void expect_passes(const CompileOptions& compile, double bound_scale = 1.0, double gradient_floor = 0.0) {
    const std::unique_ptr<Engine> engine = make_engine("cpu");
    const Report report = run_case(*engine, GetParam(),
                                   {.compile = compile, .bound_scale = bound_scale, .gradient_floor = gradient_floor});
    RecordProperty("worst_ratio", std::to_string(report.worst_ratio()));
    EXPECT_TRUE(report.passed()) << report.failures() << graph::print_graph(GetParam().graph);
  }
};

/// Expects all cases that have a convolution an algorithm can compute to pass in each of `forms`.
inline void expect_algorithm_passes(const std::string& algorithm, const std::function<double(const Case&)>& bound_scale,
                                    const std::vector<Form>& forms = {Form::Training, Form::Inference}) {
  const std::unique_ptr<Engine> engine = make_engine("cpu");
  for (const Form form : forms) {
    int compared = 0;
    for (const Case& tested : all_cases()) {
      const CompileOptions compile{
          .form = form, .threads = 2, .bucket_bytes = 2048, .algorithms = parse_algorithms(algorithm)};
      const std::unique_ptr<Executable> executable = engine->compile(tested.graph, compile);
      if (std::ranges::count(executable->plan().choices | std::views::values, algorithm) == 0) continue;
      ++compared;
      const Report report = run_case(*engine, tested, {.compile = compile, .bound_scale = bound_scale(tested)});
      EXPECT_TRUE(report.passed()) << tested.name << "\n" << report.failures() << graph::print_graph(tested.graph);
    }
    EXPECT_GE(compared, 5);
  }
}

}  // namespace roentgen::engine::conformance
