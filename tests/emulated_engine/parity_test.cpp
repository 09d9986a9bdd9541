// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares a whole network on the emulated CUDA engine with PyTorch in float64. The tolerance is based on PyTorch's own
// errors: in float32, and in bf16 by autocast (tests/parity).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/emulated_engine/emulated_engine.h"
#include "tests/parity/comparison.h"
#include "tests/parity/yardstick.h"

namespace roentgen::emulated {
namespace {

/// Bounds of the errors of a training pass.
struct Bounds {
  double gradient_median, gradient_max, logits;
};

// The network has no ReLU, whose sign rounding could flip, so that gradients show only their rounding.
void expect_parity(engine::ComputeType type, const Bounds& bounds) {
  const parity::Golden golden = parity::read_golden("smooth");
  EmulatedEngine engine;
  const auto executable =
      engine.compile(parity::graph_of(golden), {.slots = 1, .dtype = type, .loss_scaling = {.start = 256.0}});
  parity::load_formula(*executable);
  const parity::Comparison ours = parity::compare_training(golden, *executable);
  const std::vector<double> errors = parity::values_of(ours.gradients);
  const double middle = parity::median(errors), largest = *std::ranges::max_element(errors);
  fmt::print("smooth in {}: gradient median {:.2e} max {:.2e}, logits {:.1e}, loss {:.1e}\n", name_of(type), middle,
             largest, ours.logits_max_abs, ours.loss_max_abs);
  EXPECT_LE(middle, parity::kYardstickFactor * bounds.gradient_median);
  EXPECT_LE(largest, parity::kYardstickFactor * bounds.gradient_max);
  EXPECT_LE(ours.logits_max_abs, parity::kYardstickFactor * bounds.logits);
  // The loss is a mean over labels whose errors partly cancel by chance, so its bound is that of the logits.
  EXPECT_LE(ours.loss_max_abs, parity::kYardstickFactor * bounds.logits);
}

// Errors of PyTorch's autocast to bf16.
constexpr Bounds kAutocast{.gradient_median = 1.3e-2, .gradient_max = 1.61e-2, .logits = 2.0e-3};

TEST(EmulatedParity, network_in_f32_trains_as_torch_does) {
  const parity::Yardstick torch = parity::read_golden("smooth").torch;
  expect_parity(DType::F32, {torch.gradient_median, torch.gradient_max, torch.logits_max_abs});
}
TEST(EmulatedParity, network_in_bf16_trains_as_torch_does_in_it) { expect_parity(DType::Bf16, kAutocast); }
// f16 has 3 more bits than bf16, so its rounding errors are an eighth.
TEST(EmulatedParity, network_in_f16_is_as_much_closer_as_its_bits) {
  expect_parity(DType::F16, {kAutocast.gradient_median / 8, kAutocast.gradient_max / 8, kAutocast.logits / 8});
}

}  // namespace
}  // namespace roentgen::emulated
