// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Closed formulas for weights, batches and projections of the parity tests. tools/peers/parity_formula.py describes
// them in full and gives the same bits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/shape.h"
#include "graph/parameter.h"

namespace roentgen::parity {

/// FNV-1a hash of a name, 64 bits.
[[nodiscard]] std::uint64_t key(std::string_view name);
/// Output number `index` of the generator SplitMix64 with the state `start`.
[[nodiscard]] std::uint64_t mix(std::uint64_t start, std::int64_t index);
/// Number u(name, index) in [-1, 1).
[[nodiscard]] double uniform(std::string_view name, std::int64_t index);

/// Value of a parameter or running statistic by the formula, as row-major f32.
[[nodiscard]] std::vector<float> parameter_values(const graph::Parameter& parameter);

/// One batch: image (N, C, H, W), labels and mask (N, K), row-major f32.
struct Batch {
  std::vector<float> image;
  std::vector<float> labels;
  std::vector<float> mask;
};
/// Batch number `index`; H and W must be multiples of 8.
[[nodiscard]] Batch make_batch(std::int64_t index, const Shape& image, std::int64_t labels);

/// The first `count` <= 64 projections of a tensor onto fixed vectors of +-1, in double.
[[nodiscard]] std::vector<double> project(std::string_view name, std::span<const float> tensor, std::int64_t count);

}  // namespace roentgen::parity
