// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The checks that the parity tests share, with their tolerances.
#pragma once

#include <cstdint>
#include <string_view>

#include "tests/parity/network.h"

namespace roentgen::parity {

/// Rounding differs between any two orders of summation; PyTorch's own two layouts differ by 2 to 3.
inline constexpr double kYardstickFactor = 2.0;
/// Logits of these networks are of order 1; PyTorch's float32 is 1e-6 to 1.2e-4 off.
inline constexpr double kLogits = 1e-4;
/// Relative L2 error of a running mean or variance: 100 float32 roundings.
inline constexpr double kRunning = 2e-5;

/// Bounds of logits and running statistics: kLogits and kRunning. For a network so deep without shortcuts that
/// PyTorch's own float32 is further off, the bound is kYardstickFactor times PyTorch's error. Inception-v4's logits are
/// off by 2e-3, and half of its gradients by 12% (unrelated ones would be 141% off).
enum class Bounds : std::uint8_t { Constant, Yardstick };

/// Training passes of a golden file: logits, loss, gradients (median and maximum over parameters) and running
/// statistics. Prints what it measured.
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
/// Training passes with values stored in bf16: each error at most kYardstickFactor of PyTorch's.
void expect_bf16_training_parity(std::string_view golden, const Bf16Yardstick& torch);
/// The inference pass of a golden file: logits and loss.
void expect_inference_parity(std::string_view golden);

}  // namespace roentgen::parity
