// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads the golden files of tests/golden/parity: results of PyTorch in float64, and the error of PyTorch's own float32.
// tools/peers/parity_golden.py writes them.
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

/// A tensor described by its L2 norm and its projections (formula.h).
struct Summary {
  double norm = 0.0;
  std::vector<double> projections;
};

/// Results of one forward and backward pass in float64.
struct GoldenPass {
  /// Logits, (N, K) row-major.
  std::vector<double> logits;
  double loss = 0.0;
  /// Gradients by parameter name; empty in inference.
  std::map<std::string, Summary> gradients;
};

/// Errors of PyTorch's own float32 against float64: the larger of those in its two memory layouts.
struct Yardstick {
  /// Median over all parameters of a gradient's relative L2 error (root mean square over the batches).
  double gradient_median = 0.0;
  double gradient_max = 0.0;
  double logits_max_abs = 0.0;
  /// Largest relative L2 error of a running mean or variance after the first batch.
  double running_max = 0.0;
  /// Error of each parameter's gradient. Empty if the network has ReLUs or max pooling, whose gradients are not
  /// compared singly.
  std::map<std::string, double> gradients;
};

/// Contents of a golden file of a whole network.
struct Golden {
  /// Name of a model of torchvision or timm, or name of a graph text next to the file; the other one is empty.
  std::string model;
  std::string graph;
  /// Width of the model (models::ModelConfig).
  std::int64_t width = 64;
  /// (N, C, H, W)
  Shape image;
  std::int64_t labels = 0;
  /// Training pass of each batch, in order.
  std::vector<GoldenPass> training;
  /// Running statistics after the first batch.
  std::map<std::string, Summary> running;
  /// Inference pass of the first batch with the formula's running statistics.
  GoldenPass inference;
  Yardstick torch;
};

/// Path of a file in tests/golden/parity.
[[nodiscard]] std::string golden_path(std::string_view file);
/// Reads NAME.json as a tree. Throws DataError if there is no such file.
[[nodiscard]] Value read_tree(std::string_view name);
/// Reads NAME.json of a whole network.
[[nodiscard]] Golden read_golden(std::string_view name);
/// Converts an array to numbers.
[[nodiscard]] std::vector<double> numbers(const Value& array);
/// Converts an array of integers to a shape.
[[nodiscard]] Shape shape_of(const Value& array);

/// Estimated relative L2 error of `values` against a summary: sqrt(mean of squared projection differences) / norm. It
/// is not divided by the norm if the golden tensor is zero up to rounding (the bias of a convolution before a batch
/// norm).
[[nodiscard]] double relative_error(std::string_view name, std::span<const float> values, const Summary& golden);
/// Largest |ours - golden|; infinite if the sizes differ.
[[nodiscard]] double max_difference(std::span<const float> ours, std::span<const double> golden);
/// Median; the mean of the middle two for an even count.
[[nodiscard]] double median(std::vector<double> values);

}  // namespace roentgen::parity
