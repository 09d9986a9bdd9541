// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The golden files of tests/golden/parity, read: what PyTorch computes in float64 and how far its own float32 is off.
// Written by tools/peers/parity_golden.py.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/shape.h"
#include "core/value.h"

namespace roentgen::parity {

/// A tensor known by its L2 norm and its projections (formula.h).
struct Summary {
  double norm = 0.0;
  std::vector<double> projections;
};

/// One forward and backward in float64.
struct GoldenPass {
  /// (N, K) row-major.
  std::vector<double> logits;
  double loss = 0.0;
  /// By parameter name; empty in inference.
  std::map<std::string, Summary> gradients;
};

/// PyTorch's own float32 against float64: the larger of its two layouts.
struct Yardstick {
  /// Over all parameters, of a tensor's relative L2 error (root mean square over the batches).
  double gradient_median = 0.0;
  double gradient_max = 0.0;
  double logits_max_abs = 0.0;
  /// Relative L2 error of a running mean or variance after the first batch.
  double running_max = 0.0;
  /// Per parameter; empty where the network has kinks and no tensor is judged alone.
  std::map<std::string, double> gradients;
};

/// A golden file of a whole network.
struct Golden {
  /// Name of a model of torchvision or timm, or of a graph text beside the file; the other is empty.
  std::string model;
  std::string graph;
  /// Width of the model (models::ModelConfig).
  std::int64_t width = 64;
  /// (N, C, H, W)
  Shape image;
  std::int64_t labels = 0;
  /// Batch b is training[b].
  std::vector<GoldenPass> training;
  /// Running statistics after the first batch.
  std::map<std::string, Summary> running;
  /// The first batch with the formula's running statistics.
  GoldenPass inference;
  Yardstick torch;
};

/// Path of a file of tests/golden/parity.
[[nodiscard]] std::string golden_path(std::string_view file);
/// Reads NAME.json as a tree; DataError when there is none.
[[nodiscard]] Value read_tree(std::string_view name);
/// Reads NAME.json of a whole network.
[[nodiscard]] Golden read_golden(std::string_view name);
/// An array of numbers.
[[nodiscard]] std::vector<double> numbers(const Value& array);
/// An array of integers as a shape.
[[nodiscard]] Shape shape_of(const Value& array);

/// Estimated relative L2 error of `values` against a summary: sqrt(mean of squared projection differences) / norm. It
/// is not divided where the golden tensor is zero up to rounding (the bias of a convolution before a batch norm).
[[nodiscard]] double relative_error(std::string_view name, std::span<const float> values, const Summary& golden);
/// Largest |ours - golden|; infinite when the sizes differ.
[[nodiscard]] double max_difference(std::span<const float> ours, std::span<const double> golden);
/// Median, the mean of the middle two for an even count.
[[nodiscard]] double median(std::vector<double> values);

}  // namespace roentgen::parity
