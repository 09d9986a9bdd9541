// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks of the parity tests, with their tolerances relative to PyTorch's own rounding error.
#pragma once

#include <cstdint>
#include <string_view>

#include "tests/parity/network.h"

namespace roentgen::parity {

/// Factor on PyTorch's own error. Rounding differs with the order of summation; PyTorch's two layouts differ by a
/// factor of 2 to 3.
inline constexpr double kYardstickFactor = 2.0;
/// Largest error of logits, which are of order 1; PyTorch's float32 errors are 1e-6 to 1.2e-4.
inline constexpr double kLogits = 1e-4;
/// Largest relative L2 error of a running mean or variance: about 100 float32 roundings.
inline constexpr double kRunning = 2e-5;

/// Bounds of logits and running statistics: kLogits and kRunning. Yardstick is for deep networks without shortcuts,
/// where PyTorch's own float32 error is larger: the bound is kYardstickFactor times PyTorch's error. Inception-v4's
/// logits are off by 2e-3, and half of its gradients by 12% (unrelated ones would be 141% off).
enum class Bounds : std::uint8_t { Constant, Yardstick };

/// Expects the training passes of a golden file to agree: logits, loss, gradients (median and maximum over parameters)
/// and running statistics. Prints the errors.
void expect_training_parity(std::string_view golden, Convolutions convolutions = Convolutions::Direct,
                            Bounds bounds = Bounds::Constant);
/// Error of PyTorch's autocast to bf16 against a golden file's float64 (tools/peers/parity_bf16.py; PyTorch 2.15, the
/// better layout). 0 for gradients where a deep network at random weights turns last digits into noise as large as the
/// gradients. PyTorch has that noise too (1.2 of ResNet-50's median gradient), and twice as much would hold for any
/// numbers (1.41 of unrelated ones).
struct Bf16Yardstick {
  double gradient_median = 0.0;
  double gradient_max = 0.0;
  double logits = 0.0;
};
/// Expects each error of training passes with values stored in bf16 to be at most kYardstickFactor times PyTorch's.
void expect_bf16_training_parity(std::string_view golden, const Bf16Yardstick& torch);
/// Expects logits and loss of a golden file's inference pass to agree.
void expect_inference_parity(std::string_view golden);

}  // namespace roentgen::parity
