// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "tests/parity/yardstick.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace roentgen::parity {

void expect_training_parity(std::string_view name, Convolutions convolutions) {
  const Golden golden = read_golden(name);
  const Comparison ours = compare_training(golden, convolutions);
  const std::vector<double> errors = values_of(ours.gradients);
  const std::vector<double> running = values_of(ours.running);
  const double middle = median(errors);
  const double largest = *std::max_element(errors.begin(), errors.end());
  const double worst_running = running.empty() ? 0.0 : *std::max_element(running.begin(), running.end());
  fmt::print(
      "{}{}: gradient median {:.2e} max {:.2e} (torch {:.2e} {:.2e}), logits {:.1e} (torch {:.1e}), running {:.1e}\n",
      name,
      convolutions == Convolutions::Winograd ? " by Winograd"
      : convolutions == Convolutions::Split  ? " by split products"
                                             : "",
      middle, largest, golden.torch.gradient_median, golden.torch.gradient_max, ours.logits_max_abs,
      golden.torch.logits_max_abs, worst_running);
  EXPECT_LE(middle, kYardstickFactor * golden.torch.gradient_median);
  EXPECT_LE(largest, kYardstickFactor * golden.torch.gradient_max);
  EXPECT_LE(ours.logits_max_abs, kLogits);
  EXPECT_LE(ours.loss_max_abs, kLogits);
  EXPECT_LE(worst_running, kRunning);
}

void expect_inference_parity(std::string_view name) {
  const Golden golden = read_golden(name);
  const auto executable = compile(graph_of(golden), engine::Form::Inference);
  feed(*executable, 0);
  executable->forward();
  EXPECT_LE(max_difference(executable->output("logits"), golden.inference.logits), kLogits);
  EXPECT_NEAR(loss_of(*executable), golden.inference.loss, kLogits);
}

}  // namespace roentgen::parity
