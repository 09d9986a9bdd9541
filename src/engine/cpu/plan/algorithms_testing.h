// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Runs the cases of engine/conformance on the CPU engine with a given convolution algorithm, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <ranges>
#include <string>
#include <vector>

#include "engine/conformance/conformance.h"
#include "graph/text.h"

namespace roentgen::engine::conformance {

/// Runs all cases that have a convolution the algorithm can compute, in each of `forms`, and expects them to pass.
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
