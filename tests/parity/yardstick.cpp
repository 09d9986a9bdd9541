// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "tests/parity/yardstick.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace roentgen::parity {

void expect_training_parity(std::string_view name, Convolutions convolutions, Bounds bounds) {
  const Golden golden = read_golden(name);
  const Comparison ours = compare_training(golden, convolutions);
  const std::vector<double> errors = values_of(ours.gradients);
  const std::vector<double> running = values_of(ours.running);
  const double middle = median(errors);
  const double largest = *std::max_element(errors.begin(), errors.end());
  const double worst_running = running.empty() ? 0.0 : *std::max_element(running.begin(), running.end());
  fmt::print(
      "{}{}: gradient median {:.2e} max {:.2e} (torch {:.2e} {:.2e}), logits {:.1e} (torch {:.1e}), running {:.1e}\n",
      name, name_of(convolutions), middle, largest, golden.torch.gradient_median, golden.torch.gradient_max,
      ours.logits_max_abs, golden.torch.logits_max_abs, worst_running);
  EXPECT_LE(middle, kYardstickFactor * golden.torch.gradient_median);
  EXPECT_LE(largest, kYardstickFactor * golden.torch.gradient_max);
  const bool is_constant = bounds == Bounds::Constant;
  EXPECT_LE(ours.logits_max_abs, is_constant ? kLogits : kYardstickFactor * golden.torch.logits_max_abs);
  EXPECT_LE(ours.loss_max_abs, kLogits);
  EXPECT_LE(worst_running, is_constant ? kRunning : kYardstickFactor * golden.torch.running_max);
}

void expect_bf16_training_parity(std::string_view name, const Bf16Yardstick& torch) {
  const Golden golden = read_golden(name);
  const Comparison ours = compare_training(golden, Convolutions::Bf16);
  const std::vector<double> errors = values_of(ours.gradients);
  const double middle = median(errors);
  const double largest = *std::max_element(errors.begin(), errors.end());
  fmt::print("{} in bf16: gradient median {:.2e} max {:.2e}, logits {:.1e} (torch {:.1e}), loss {:.1e}\n", name, middle,
             largest, ours.logits_max_abs, torch.logits, ours.loss_max_abs);
  if (torch.gradient_median > 0.0) {
    EXPECT_LE(middle, kYardstickFactor * torch.gradient_median);
  }
  if (torch.gradient_max > 0.0) {
    EXPECT_LE(largest, kYardstickFactor * torch.gradient_max);
  }
  EXPECT_LE(ours.logits_max_abs, kYardstickFactor * torch.logits);
  // The loss is a mean over labels whose errors partly cancel by chance, so its bound is that of the logits.
  EXPECT_LE(ours.loss_max_abs, kYardstickFactor * torch.logits);
}

void expect_inference_parity(std::string_view name) {
  const Golden golden = read_golden(name);
  const auto executable = compile(graph_of(golden), engine::Form::Inference);
  feed(*executable, 0);
  executable->forward();
  EXPECT_LE(max_difference(executable->read("logits"), golden.inference.logits), kLogits);
  EXPECT_NEAR(loss_of(*executable), golden.inference.loss, kLogits);
}

}  // namespace roentgen::parity
