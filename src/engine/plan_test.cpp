// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/plan.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "engine/plan_table.h"

namespace roentgen::engine {
namespace {

TEST(MemoryReport, tells_each_part_that_is_there_and_which_of_it_is_scratch_of_threads) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  MemoryReport report{.activations = 900 * kMiB, .parameters = 90 * kMiB, .gradients = 90 * kMiB, .state = kMiB};
  EXPECT_EQ(report.text({{"optimizer", 90 * kMiB}}),
            "1171.0 MiB: activations 900.0, parameters 90.0, gradients 90.0, other 1.0, optimizer 90.0");
  report.workspace = 8 * kMiB;
  EXPECT_EQ(report.total(), 1081 * kMiB) << "a part of activations";
  EXPECT_EQ(report.text(),
            "1081.0 MiB: activations 900.0 (scratch of threads 8.0), parameters 90.0, gradients 90.0, other 1.0");
}

// Scratch per thread does not affect results; a layout, a kernel or a choice does.
TEST(Plan, hash_is_of_what_moves_results_and_not_of_memory_by_thread) {
  Plan plan;
  plan.choices = {{"conv/forward", "winograd"}};
  plan.entries.push_back({.name = "conv/forward", .implementation = "winograd_4x3:AVX3"});
  plan.tensors.push_back({.name = "conv", .storage = Storage::Planned, .layout = "nChw16c"});
  const std::string before = plan.hash();
  plan.tensors.push_back({.name = "scratch of each thread", .bytes = 64, .storage = Storage::Workspace});
  plan.tensors.back().layout = "scratch";
  plan.replica_stride_bytes = 4096;
  EXPECT_EQ(plan.hash(), before);
  const auto changed = [&](auto&& change) {
    Plan other = plan;
    change(other);
    return other.hash();
  };
  EXPECT_NE(changed([](Plan& p) { p.tensors.front().layout = "nChw8c"; }), before);
  EXPECT_NE(changed([](Plan& p) { p.tensors.back().storage = Storage::Planned; }), before);
  EXPECT_NE(changed([](Plan& p) { p.entries.front().implementation = "winograd_4x3:AVX2"; }), before);
  EXPECT_NE(changed([](Plan& p) { p.choices["conv/forward"] = "direct"; }), before);
}

TEST(PlanTable, of_entries_counts_each_tensor_once_and_no_scratch) {
  Plan plan;
  plan.tensors = {{.name = "x", .bytes = 100, .layout = "nhwc8:bf16"},
                  {.name = "y", .bytes = 50, .layout = "nhwc8:bf16"},
                  {.name = "workspace", .bytes = 4096, .layout = "scratch"}};
  plan.entries.push_back({.name = "conv/forward", .kind = "conv2d_forward", .reads = {0}, .writes = {1, 2}});
  plan.entries.back().flops = 7;
  const Value row = entry_table(plan).as_array().at(0);
  EXPECT_EQ(row.at("name").as_string(), "conv/forward");
  EXPECT_EQ(row.at("kind").as_string(), "conv2d_forward");
  EXPECT_EQ(row.at("bytes").as_integer(), 150);
  EXPECT_EQ(row.at("flops").as_integer(), 7);
}

}  // namespace
}  // namespace roentgen::engine
