// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares the CPU engine, with each of its algorithms and fusions, with the double reference. It runs every case of
// every op (engine/conformance).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <vector>

#include "core/error.h"
#include "engine/conformance/bounds.h"
#include "engine/conformance/suite_testing.h"
#include "engine/cpu/plan/algorithms_testing.h"
#include "engine/cpu/simd/pointwise.h"
#include "engine/cpu/simd/tiles.h"
#include "graph/passes/pass_list.h"
#include "graph/text.h"

namespace roentgen::engine::conformance {
namespace {

RG_CONFORMANCE(Cpu, [] { return make_engine("cpu"); }, {kF32, kBf16});

// Winograd multiplies rounding errors of products by 2 to 20 in the root mean square; errors are at most 2e-6 (tested
// in winograd_test.cpp). Direct's bound has room for this, since it assumes that all errors of a sum add up.
TEST(ConformanceWinograd, all_that_can_be_winograd_agrees_with_the_reference) {
  expect_algorithm_passes("winograd", [](const Case&) { return 1.0; });
}

// Sums the same terms as Direct in another order, so Direct's bound applies.
TEST(ConformancePointwise, all_that_can_be_pointwise_agrees_with_the_reference) {
  if (!cpu::simd::has_avx512()) GTEST_SKIP() << "SKIPPED: this machine has no AVX-512";
  expect_algorithm_passes("pointwise", [](const Case&) { return 1.0; });
}

// Each product is replaced by six, most of them small. Six times the roundings of f32 sums give sqrt(6) times Direct's
// bound.
TEST(ConformanceSplit, all_that_can_be_split_agrees_with_the_reference) {
  if (!cpu::simd::bf16_unit()) GTEST_SKIP() << "SKIPPED: this machine has no bf16 products (AMX or AVX-512)";
  expect_algorithm_passes("split", [](const Case&) { return 2.45; });
}

// Backward passes use three products, each off by 4e-6 (2^-18) in the mean square. Over ops, these errors add up as a
// random walk. The bound is four times the walk, plus the error of the forward pass's six products.
TEST(ConformanceSplit, gradients_of_half_the_products_agree_with_the_reference) {
  if (!cpu::simd::bf16_unit()) GTEST_SKIP() << "SKIPPED: this machine has no bf16 products (AMX or AVX-512)";
  expect_algorithm_passes("split2",
                          [](const Case& tested) {
                            const double off =
                                4.0 * 0x1p-18 * std::sqrt(static_cast<double>(tested.graph.nodes().size()));
                            return 2.45 + off / error_bound(tested.graph);
                          },
                          {Form::Training});
}

// Random networks, in which most ops lie between other ops and therefore get bf16 values.
TEST(ConformanceBf16, networks_agree_with_the_reference_within_its_digits) {
  const std::unique_ptr<Engine> engine = make_engine("cpu");
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Case tested = random_case(seed);
    for (const char* fuse : {"on", "off"}) {
      for (const char* recompute : {"none", "all"}) {
        const CompileOptions compile{
            .form = Form::Training, .threads = 1, .fuse = fuse, .dtype = DType::Bf16, .recompute = recompute};
        const RunOptions options{.compile = compile, .bound_scale = bf16_scale(tested), .gradient_floor = 0.05};
        const Report report = run_case(*engine, tested, options);
        EXPECT_TRUE(report.passed()) << "seed " << seed << " fuse " << fuse << "\n"
                                     << report.failures() << graph::print_graph(tested.graph);
      }
    }
  }
}

// Winograd computes in f32 between bf16 values, which is more accurate than products of bf16 numbers.
TEST(ConformanceBf16, all_that_can_be_winograd_agrees_with_the_reference) {
  const std::unique_ptr<Engine> engine = make_engine("cpu");
  int compared = 0;
  for (const Case& tested : all_cases()) {
    const CompileOptions compile{.form = Form::Training,
                                 .threads = 2,
                                 .bucket_bytes = 2048,
                                 .algorithms = Algorithms::Winograd,
                                 .dtype = DType::Bf16};
    const std::unique_ptr<Executable> executable = engine->compile(tested.graph, compile);
    if (std::ranges::count(executable->plan().choices | std::views::values, "winograd_bf16") == 0) continue;
    ++compared;
    const RunOptions options{.compile = compile, .bound_scale = bf16_scale(tested), .gradient_floor = 0.05};
    const Report report = run_case(*engine, tested, options);
    EXPECT_TRUE(report.passed()) << tested.name << "\n" << report.failures() << graph::print_graph(tested.graph);
  }
  EXPECT_GE(compared, 5);
}

// The plan stores the requested algorithm, so a compile from the stored plan needs no request.
TEST(ConformanceBf16, plan_keeps_the_choice) {
  const std::unique_ptr<Engine> engine = make_engine("cpu");
  const Case tested = random_case(1);
  const std::unique_ptr<Executable> asked = engine->compile(tested.graph, {.threads = 1, .dtype = DType::Bf16});
  EXPECT_EQ(asked->plan().dtype(), "bf16");
  const auto stored = engine->compile(tested.graph, {.threads = 1, .choices = asked->plan().choices});
  EXPECT_EQ(stored->plan().hash(), asked->plan().hash());
  const auto f32 = engine->compile(tested.graph, {.threads = 1});
  EXPECT_EQ(f32->plan().dtype(), "f32");
  EXPECT_NE(f32->plan().hash(), asked->plan().hash());
  const auto kept = engine->compile(tested.graph, {.threads = 1, .dtype = DType::Bf16, .choices = f32->plan().choices});
  EXPECT_EQ(kept->plan().hash(), f32->plan().hash());
}

// Checks that every node that the passes mark as folded is folded by a fast kernel, and leaves no entry in the plan.
TEST(ConformanceFolding, leaves_no_entry_of_what_is_folded) {
  const std::unique_ptr<Engine> engine = make_engine("cpu");
  int folded = 0;
  for (const Case& tested : all_cases()) {
    const graph::Graph graph = graph::run_passes(tested.graph, "on", graph::Purpose::Inference);
    const std::unique_ptr<Executable> executable =
        engine->compile(tested.graph, {.form = Form::Inference, .threads = 1});
    for (const graph::Node& node : graph.nodes()) {
      const auto* norm = std::get_if<graph::BatchNorm>(&node.op);
      const auto* relu = std::get_if<graph::Relu>(&node.op);
      if ((norm == nullptr || !norm->folded) && (relu == nullptr || !relu->folded)) continue;
      ++folded;
      for (const PlanEntry& entry : executable->plan().entries) {
        EXPECT_FALSE(entry.name == node.name + "/forward") << tested.name << " " << entry.name;
      }
    }
  }
  EXPECT_GE(folded, 20);
}

// Random networks. ROENTGEN_RANDOM_CASES sets their number, for a longer search.
TEST(ConformanceRandom, networks_agree_with_the_reference) {
  const std::unique_ptr<Engine> engine = make_engine("cpu");
  const char* wanted = std::getenv("ROENTGEN_RANDOM_CASES");
  const std::uint64_t count = wanted == nullptr ? 40 : std::strtoull(wanted, nullptr, 10);
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    const Case tested = random_case(seed);
    for (const char* fuse : {"on", "off"}) {
      for (const Form form : {Form::Training, Form::Inference}) {
        const RunOptions options{.compile = {.form = form, .threads = 1, .fuse = fuse}, .gradient_floor = 0.05};
        const Report report = run_case(*engine, tested, options);
        EXPECT_TRUE(report.passed()) << "seed " << seed << " fuse " << fuse << "\n"
                                     << report.failures() << graph::print_graph(tested.graph);
      }
    }
  }
}

// Checks that no primitive uses oneDNN's reference implementation, which is a hundred to a thousand times too slow.
TEST(ConformanceKernels, none_is_of_the_reference_kind) {
  const std::unique_ptr<Engine> engine = make_engine("cpu");
  for (const Case& tested : all_cases()) {
    for (const CompileOptions& compile :
         {CompileOptions{.threads = 1}, CompileOptions{.threads = 1, .dtype = DType::Bf16},
          CompileOptions{.form = Form::Inference, .threads = 1}}) {
      const std::unique_ptr<Executable> executable = engine->compile(tested.graph, compile);
      for (const PlanEntry& entry : executable->plan().entries) {
        EXPECT_FALSE(entry.implementation.starts_with("ref"))
            << tested.name << " " << entry.name << ": " << entry.implementation;
      }
    }
  }
}

// The comparison must detect float32 rounding errors when the bound is tightened, or it might accept anything.
TEST(ConformanceRunner, sees_errors_of_the_size_of_rounding) {
  const std::unique_ptr<Engine> engine = make_engine("cpu");
  const std::vector<Case> cases = network_cases();
  const Report report = run_case(*engine, cases.front(), {.compile = {.threads = 1}, .bound_scale = 1e-4});
  EXPECT_FALSE(report.passed());
  EXPECT_GT(report.worst_ratio(), 1.0);
}

}  // namespace
}  // namespace roentgen::engine::conformance
