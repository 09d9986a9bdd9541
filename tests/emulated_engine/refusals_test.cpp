// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests that the CUDA engine refuses invalid requests before a step, each with one line.
#include <gtest/gtest.h>

#include <functional>

#include "tests/emulated_engine/steps_testing.h"

namespace roentgen::emulated {
namespace {

// Text of the DeviceError that `work` throws.
std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const DeviceError& error) {
    EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos) << error.what();
    return error.what();
  }
  return "nothing was refused";
}

void expect_part(const std::string& text, std::string_view part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(EmulatedCuda, plan_that_is_larger_than_the_free_memory_is_refused_before_it_is_made) {
  const auto tested = network("resnet18", 2, models::Stem::ImageNet, 8);
  EmulatedEngine engine({.free_bytes = std::size_t{1} << 20U});
  const std::string text = refusal([&] { static_cast<void>(engine.compile(tested.graph, {})); });
  expect_part(text, "[runtime.device] memory of cuda-emulated: expected at most 1.0 MiB (free memory), got ");
  expect_part(text, " MiB for the plan, ");
  expect_part(text, "activations ");
  expect_part(text, "try a smaller batch, or recompute=all");
  EmulatedEngine larger({.free_bytes = std::size_t{1} << 28U});
  EXPECT_NO_THROW(static_cast<void>(larger.compile(tested.graph, {})));
}

TEST(EmulatedCuda, batch_norms_over_ranks_are_refused) {
  const auto tested = network("resnet18", 2, models::Stem::ImageNet, 8);
  const auto two = std::make_shared<engine::NormGroup>(engine::NormGroup{.ranks = 2});
  EmulatedEngine engine;
  const std::string text = refusal([&] { static_cast<void>(engine.compile(tested.graph, {.norm_group = two})); });
  expect_part(text, "[engine.cuda] batch norm across GPUs: expected statistics of a single GPU, got 2 processes with");
}

}  // namespace
}  // namespace roentgen::emulated
