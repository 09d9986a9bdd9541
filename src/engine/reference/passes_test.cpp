// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Graph passes may change how a graph is computed, but not its results. The test is in this directory, because the
// reference interpreter computes in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/conformance/conformance.h"
#include "engine/reference/reference_run.h"
#include "graph/passes/pass_list.h"

namespace roentgen::engine::reference {
namespace {
/// Tolerance for rounding in double, over graphs with a few hundred sums.
constexpr double kTolerance = 1e-11;

void expect_near(const Array& got, const Array& expected, const std::string& what) {
  ASSERT_EQ(got.shape, expected.shape) << what;
  for (std::int64_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], expected[i], kTolerance * (1.0 + std::fabs(expected[i]))) << what << " element " << i;
  }
}

/// Index of an equal parameter in another graph, since a pass may reorder nodes and their parameters. -1: none.
std::int32_t index_of(const graph::Graph& graph, const graph::Parameter& parameter) {
  const auto found = std::ranges::find(graph.parameters(), parameter);
  return found == graph.parameters().end() ? -1 : static_cast<std::int32_t>(found - graph.parameters().begin());
}

void expect_same_results(const conformance::Case& before, Form form, std::string_view passes) {
  conformance::Case after = before;
  after.graph = graph::run_passes(before.graph, passes, graph::Purpose::Inference);
  ASSERT_EQ(after.graph.parameters().size(), before.graph.parameters().size());
  const auto values = conformance::draw_values(before, 1);
  ReferenceRun expected = conformance::run_reference(before, form, values);
  ReferenceRun got = conformance::run_reference(after, form, values);
  for (const auto& [name, id] : before.graph.outputs()) expect_near(got.output(name), expected.output(name), name);
  if (form == Form::Inference) return;
  expected.backward("loss");
  got.backward("loss");
  for (std::size_t i = 0; i < before.graph.parameters().size(); ++i) {
    const auto id = static_cast<std::int32_t>(i);
    const graph::Parameter& parameter = before.graph.parameters()[i];
    const std::int32_t other = index_of(after.graph, parameter);
    ASSERT_GE(other, 0) << parameter.name;
    expect_near(got.parameter_gradient(other), expected.parameter_gradient(id), "gradient " + parameter.name);
    expect_near(got.state(other), expected.state(id), "state " + parameter.name);
  }
}
}  // namespace

TEST(Passes, leave_all_results_of_every_case_as_they_were) {
  std::vector<std::string_view> choices = graph::pass_names();
  choices.push_back("on");
  for (const conformance::Case& tested : conformance::all_cases()) {
    for (const std::string_view choice : choices) {
      if (graph::run_passes(tested.graph, choice, graph::Purpose::Inference) == tested.graph) continue;
      SCOPED_TRACE(tested.name + " " + std::string(choice));
      expect_same_results(tested, Form::Training, choice);
      expect_same_results(tested, Form::Inference, choice);
    }
  }
}

TEST(Passes, each_changes_some_case) {
  for (const std::string_view choice : graph::pass_names()) {
    bool is_used = false;
    for (const conformance::Case& tested : conformance::all_cases()) {
      is_used = is_used || graph::run_passes(tested.graph, choice, graph::Purpose::Inference) != tested.graph;
    }
    EXPECT_TRUE(is_used) << choice;
  }
}

TEST(Passes, of_inference_leave_training_alone) {
  const std::vector<std::string_view> of_training = graph::training_pass_names();
  EXPECT_LT(of_training.size(), graph::pass_names().size());
  for (const std::string_view choice : graph::pass_names()) {
    const bool is_of_training = std::ranges::find(of_training, choice) != of_training.end();
    for (const conformance::Case& tested : conformance::all_cases()) {
      const graph::Graph after = graph::run_passes(tested.graph, choice, graph::Purpose::Training);
      if (!is_of_training) {
        EXPECT_TRUE(after == tested.graph) << choice;
      } else {
        EXPECT_TRUE(after == graph::run_passes(tested.graph, choice, graph::Purpose::Inference)) << choice;
      }
    }
  }
}

TEST(Passes, do_nothing_when_off) {
  for (const conformance::Case& tested : conformance::all_cases()) {
    EXPECT_TRUE(graph::run_passes(tested.graph, "off", graph::Purpose::Inference) == tested.graph) << tested.name;
  }
}

TEST(Passes, run_again_change_nothing_more) {
  for (const conformance::Case& tested : conformance::all_cases()) {
    const graph::Graph once = graph::run_passes(tested.graph, "on", graph::Purpose::Inference);
    EXPECT_TRUE(graph::run_passes(once, "on", graph::Purpose::Inference) == once) << tested.name;
  }
}

}  // namespace roentgen::engine::reference
