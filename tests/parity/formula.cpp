// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "tests/parity/formula.h"

#include <array>
#include <cmath>

#include "core/error.h"

namespace roentgen::parity {
namespace {
double uniform_of(std::uint64_t start, std::int64_t index) {
  return (static_cast<double>(mix(start, index) >> 40U) - 8388608.0) / 8388608.0;
}

/// Number of inputs to one output: IC/groups * KH * KW.
double fan_in(const Shape& shape) { return static_cast<double>(shape.elements() / shape[0]); }

double parameter_value(const graph::Parameter& parameter, double u) {
  switch (parameter.role) {
    case graph::Role::Weight:
      return std::sqrt((parameter.shape.rank() == 4 ? 6.0 : 1.0) / fan_in(parameter.shape)) * u;
    case graph::Role::NormScale:
      return 0.75 + 0.25 * u;
    case graph::Role::RunningVariance:
      return 1.0 + 0.25 * u;
    case graph::Role::Bias:
    case graph::Role::NormShift:
    case graph::Role::RunningMean:
      return 0.1 * u;
  }
  RG_ASSERT(false);
}
}  // namespace

std::uint64_t key(std::string_view name) {
  std::uint64_t value = 14695981039346656037ULL;
  for (const char c : name) value = (value ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return value;
}

std::uint64_t mix(std::uint64_t start, std::int64_t index) {
  std::uint64_t z = start + (static_cast<std::uint64_t>(index) + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31U);
}

double uniform(std::string_view name, std::int64_t index) { return uniform_of(key(name), index); }

std::vector<float> parameter_values(const graph::Parameter& parameter) {
  const std::uint64_t start = key(parameter.name);
  std::vector<float> values(static_cast<std::size_t>(parameter.shape.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(parameter_value(parameter, uniform_of(start, static_cast<std::int64_t>(i))));
  }
  return values;
}

Batch make_batch(std::int64_t index, const Shape& image, std::int64_t labels) {
  RG_ASSERT(image.rank() == 4 && image[2] % 8 == 0 && image[3] % 8 == 0);
  const std::string suffix = "#" + std::to_string(index);
  const std::uint64_t fine = key("image" + suffix);
  const std::uint64_t coarse = key("coarse" + suffix);
  const std::int64_t H = image[2];
  const std::int64_t W = image[3];
  Batch batch;
  batch.image.reserve(static_cast<std::size_t>(image.elements()));
  for (std::int64_t plane = 0; plane < image[0] * image[1]; ++plane) {
    for (std::int64_t h = 0; h < H; ++h) {
      for (std::int64_t w = 0; w < W; ++w) {
        const double value = 0.5 * uniform_of(fine, (plane * H + h) * W + w) +
                             uniform_of(coarse, (plane * (H / 8) + h / 8) * (W / 8) + w / 8);
        batch.image.push_back(static_cast<float>(value));
      }
    }
  }
  for (std::int64_t i = 0; i < image[0] * labels; ++i) {
    batch.labels.push_back(uniform("label" + suffix, i) > 0.5 ? 1.0F : 0.0F);
    batch.mask.push_back(uniform("mask" + suffix, i) <= 0.8 ? 1.0F : 0.0F);
  }
  return batch;
}

std::vector<double> project(std::string_view name, std::span<const float> tensor, std::int64_t count) {
  constexpr std::int64_t kMost = 64;
  RG_ASSERT(count <= kMost);
  const std::uint64_t start = key(std::string(name) + "#projection");
  std::array<double, kMost> sums{};
  for (std::size_t i = 0; i < tensor.size(); ++i) {
    const std::uint64_t bits = mix(start, static_cast<std::int64_t>(i));
    const double value = tensor[i];
    for (std::int64_t k = 0; k < count; ++k) {
      const double sign = 1.0 - 2.0 * static_cast<double>((bits >> static_cast<unsigned>(k)) & 1U);
      sums[static_cast<std::size_t>(k)] += sign * value;
    }
  }
  return {sums.begin(), sums.begin() + count};
}

}  // namespace roentgen::parity
