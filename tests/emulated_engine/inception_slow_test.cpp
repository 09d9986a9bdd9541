// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares training passes of Inception-v3 and Inception-v4 on the emulated CUDA engine with PyTorch in float64, with
// the golden files of the CPU engine. Other networks have tests at 32 px, but these networks need larger images.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/emulated_engine/emulated_engine.h"
#include "tests/parity/comparison.h"
#include "tests/parity/yardstick.h"

namespace roentgen::emulated {
namespace {

/// Expects errors of at most kYardstickFactor times those of PyTorch's float32.
void expect_parity(const std::string& name) {
  const parity::Golden golden = parity::read_golden(name);
  EmulatedEngine engine;
  const auto executable = engine.compile(parity::graph_of(golden), {.slots = 1, .dtype = DType::F32});
  parity::load_formula(*executable);
  const parity::Comparison ours = parity::compare_training(golden, *executable);
  const std::vector<double> errors = parity::values_of(ours.gradients), running = parity::values_of(ours.running);
  const double middle = parity::median(errors), largest = *std::ranges::max_element(errors);
  const double worst_running = *std::ranges::max_element(running);
  const parity::Yardstick& torch = golden.torch;
  fmt::print(
      "{}: gradient median {:.2e} max {:.2e} (torch {:.2e} {:.2e}), logits {:.1e} (torch {:.1e}), running {:.1e}\n",
      name, middle, largest, torch.gradient_median, torch.gradient_max, ours.logits_max_abs, torch.logits_max_abs,
      worst_running);
  EXPECT_LE(middle, parity::kYardstickFactor * torch.gradient_median);
  EXPECT_LE(largest, parity::kYardstickFactor * torch.gradient_max);
  EXPECT_LE(ours.logits_max_abs, parity::kYardstickFactor * torch.logits_max_abs);
  EXPECT_LE(ours.loss_max_abs, parity::kLogits);
  EXPECT_LE(worst_running, parity::kYardstickFactor * torch.running_max);
}

// The auxiliary classifier of Inception-v3 needs at least 299 px.
TEST(EmulatedInception, v3_trains_as_torch_does) { expect_parity("inception_v3_304px"); }
TEST(EmulatedInception, v4_trains_as_torch_does) { expect_parity("inception_v4_128px"); }

}  // namespace
}  // namespace roentgen::emulated
