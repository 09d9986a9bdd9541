// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares the CUDA engine on a GPU with the double reference, for every case of every op. Skipped if there is no GPU.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/conformance/conformance.h"
#include "engine/cuda/tolerances_testing.h"
#include "engine/engine_list.h"
#include "graph/text.h"
#include "runtime/stream.h"

namespace roentgen::engine {
namespace {

/// Returns the cases that this process tests: all, or with $ROENTGEN_TEST_SHARD = "k/n" every n-th from the k-th on.
std::vector<conformance::Case> own_cases() {
  std::vector<conformance::Case> all = conformance::all_cases();
  const char* const shard = std::getenv("ROENTGEN_TEST_SHARD");
  if (shard == nullptr) return all;
  std::size_t first = 0, shards = 0;
  if (std::sscanf(shard, "%zu/%zu", &first, &shards) != 2 || first >= shards) {
    throw ConfigError(
        error_text("engine.cuda", "ROENTGEN_TEST_SHARD", "k/n with k below n, such as 0/4", shard, "0/4"));
  }
  std::vector<conformance::Case> own;
  for (std::size_t i = first; i < all.size(); i += shards) own.push_back(std::move(all[i]));
  return own;
}

void expect_all_pass(CompileOptions compile) {
  compile.algorithms = Algorithms::Heuristic;  // timing plans of every case would take minutes
  const runtime::CudaInventory inventory = runtime::find_cuda_devices();
  if (inventory.devices.empty()) GTEST_SKIP() << "NO CUDA DEVICE, NOTHING TESTED: " << inventory.why_none;
  const std::unique_ptr<Engine> engine = make_cuda_engine(0);
  EXPECT_NE(engine->description().find(inventory.devices[0].name), std::string::npos);
  EXPECT_NE(engine->description().find(", cuDNN "), std::string::npos) << engine->description();
  for (const conformance::Case& tested : own_cases()) {
    try {
      const auto report = conformance::run_case(*engine, tested, cuda::run_options(tested, compile));
      EXPECT_TRUE(report.passed()) << tested.name << "\n" << report.failures() << graph::print_graph(tested.graph);
    } catch (const DeviceError& error) {
      ADD_FAILURE() << tested.name << ": " << error.what();
    }
  }
}

TEST(CudaEngine, conforms_in_training) { expect_all_pass({.form = Form::Training, .bucket_bytes = 2048}); }
TEST(CudaEngine, conforms_in_training_without_fusions) { expect_all_pass({.form = Form::Training, .fuse = "off"}); }
TEST(CudaEngine, conforms_in_training_in_tf32) {
  expect_all_pass({.form = Form::Training, .bucket_bytes = 2048, .dtype = ComputeType::tf32()});
}
TEST(CudaEngine, conforms_in_training_in_bf16) {
  expect_all_pass({.form = Form::Training, .bucket_bytes = 2048, .dtype = DType::Bf16});
}
TEST(CudaEngine, conforms_in_training_in_f16) {
  // Start with a small loss scale, because gradients of batches of a few images are large.
  expect_all_pass(
      {.form = Form::Training, .bucket_bytes = 2048, .dtype = DType::F16, .loss_scaling = {.start = 256.0}});
}
TEST(CudaEngine, conforms_in_training_computing_values_again) {
  expect_all_pass({.form = Form::Training, .dtype = DType::Bf16, .recompute = "all"});
}
TEST(CudaEngine, conforms_in_inference) { expect_all_pass({.form = Form::Inference}); }
TEST(CudaEngine, conforms_in_inference_in_tf32) {
  expect_all_pass({.form = Form::Inference, .dtype = ComputeType::tf32()});
}
TEST(CudaEngine, conforms_in_inference_in_bf16) { expect_all_pass({.form = Form::Inference, .dtype = DType::Bf16}); }

}  // namespace
}  // namespace roentgen::engine
