// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Counts heap allocations inside a step. Our code must make none; those of oneDNN are counted separately.
// tests/allocation tests whole updates with every optimizer and algorithm.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>

#include "core/allocation_count_testing.h"
#include "engine/cpu/plan/executable.h"
#include "graph/loss.h"
#include "models/model.h"
#include "runtime/aligned_buffer.h"

namespace roentgen::engine::cpu {
namespace {

graph::Graph small(const char* name) {
  models::ModelConfig config;
  config.name = name;
  config.labels = 3;
  config.channels = 1;
  config.image_px = 32;
  config.batch = 2;
  return graph::with_loss(models::build_model(config), {});
}

TEST(Allocation, a_step_allocates_nothing_of_ours) {
  if (!kCanCountAllocations) GTEST_SKIP() << "SKIPPED: the sanitizer owns operator new; the release build counts";
  for (const char* name : {"resnet18", "densenet121"}) {
    auto executable = make_executable(small(name), {});
    initialise(*executable, 1);
    const BucketCallback on_bucket = [](std::int64_t, const runtime::Event&) {};
    executable->forward();
    executable->backward(on_bucket);
    {
      const AllocationCount count;
      for (int step = 0; step < 3; ++step) {
        executable->bind_slot(step % 2);
        executable->set_step(step);
        executable->forward();
        executable->backward(on_bucket);
      }
    }
    EXPECT_EQ(AllocationCount::ours(), 0) << name;
    RecordProperty(std::string(name) + "_onednn_allocations_per_step", AllocationCount::library() / 3);
    std::printf("%s: oneDNN's own allocations per step: %d\n", name, AllocationCount::library() / 3);
  }
}

// The first forward computes the folded weights, which may allocate.
TEST(Allocation, inference_allocates_nothing_of_ours_behind_its_first_forward) {
  if (!kCanCountAllocations) GTEST_SKIP() << "SKIPPED: the sanitizer owns operator new; the release build counts";
  for (const char* name : {"resnet18", "densenet121"}) {
    auto executable = make_executable(small(name), {.form = Form::Inference});
    initialise(*executable, 1);
    executable->forward();
    {
      const AllocationCount count;
      for (int batch = 0; batch < 3; ++batch) {
        executable->bind_slot(batch % 2);
        executable->forward();
      }
    }
    EXPECT_EQ(AllocationCount::ours(), 0) << name;
  }
}

TEST(Allocation, the_counter_sees_allocations) {
  if (!kCanCountAllocations) GTEST_SKIP() << "SKIPPED: the sanitizer owns operator new; the release build counts";
  struct alignas(128) Wide {
    int value;
  };
  {
    const AllocationCount count;
    const std::unique_ptr<int> plain(new int(3));
    EXPECT_EQ(AllocationCount::ours(), 1);
    const std::unique_ptr<Wide> aligned(new Wide{3});
    EXPECT_EQ(AllocationCount::ours(), 2);
    const runtime::AlignedBuffer buffer(64);
    EXPECT_EQ(AllocationCount::ours(), 3);
  }
  const std::unique_ptr<int> uncounted(new int(3));
  EXPECT_EQ(AllocationCount::ours(), 3);
}

}  // namespace
}  // namespace roentgen::engine::cpu
