// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks the kernels of flat.h against their formulas in double, on any device.
#pragma once

#include <cmath>

#include "engine/cuda/elementwise/flat.h"
#include "engine/cuda/kernel_testing.h"

namespace roentgen::engine::cuda {
namespace flat_testing {

/// Number of elements that is a multiple of a pack, and one that is not.
inline constexpr std::size_t kCounts[] = {2056, 517};

inline double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }
inline double formula(FlatOp op, double a, double b) {
  switch (op) {
    case FlatOp::Relu:
      return a < 0.0 ? 0.0 : a;
    case FlatOp::ReluBackward:
      return a > 0.0 ? b : 0.0;
    case FlatOp::Sigmoid:
      return sigmoid(a);
    case FlatOp::SigmoidBackward:
      return b * a * (1.0 - a);
    case FlatOp::Silu:
      return a * sigmoid(a);
    case FlatOp::SiluBackward:
      return b * sigmoid(a) * (1.0 + a * (1.0 - sigmoid(a)));
    case FlatOp::Copy:
      return a;
  }
  return NAN;
}
/// Bound of some float32 operations on values of this magnitude, and one rounding to the type.
inline double bound(DType type, double wanted, double magnitude) {
  return half_ulp(type) * std::abs(wanted) + 0x1p-21 * magnitude + (magnitude > 0.0 ? 0x1p-25 : 0.0);
}

inline void check_op(runtime::Device& device, FlatOp op, DType type, std::size_t count, Worst& worst) {
  const auto stream = device.make_stream();
  const std::vector<float> a = random_values(type, count, 5, 0.0F, 2.0F), b = random_values(type, count, 6);
  const DeviceArray<std::byte> on_a(device, *stream, encoded(type, a)), on_b(device, *stream, encoded(type, b));
  const DeviceArray<std::byte> dst(device, *stream, count * size_of(type));
  const bool has_two = op == FlatOp::ReluBackward || op == FlatOp::SigmoidBackward || op == FlatOp::SiluBackward;
  const auto kernel = flat_kernel({op, type, 0, has_two ? 1 : -1, 2, static_cast<std::int64_t>(count)}, stream.get());
  kernel->bind(Addresses({on_a.get(), on_b.get(), dst.get()}));
  kernel->run();
  const std::vector<float> got = decoded(type, dst.read());
  const bool is_exact = op == FlatOp::Copy || op == FlatOp::Relu || op == FlatOp::ReluBackward;
  for (std::size_t i = 0; i < count; ++i) {
    const double wanted = formula(op, a[i], b[i]);
    const double magnitude = is_exact ? 0.0 : (1.0 + std::abs(a[i])) * (1.0 + std::abs(a[i])) * (1.0 + std::abs(b[i]));
    worst.add("elementwise " + std::to_string(static_cast<int>(op)), i, got[i], wanted,
              is_exact ? 0.0 : bound(type, wanted, magnitude));
  }
}

inline void check_sum(runtime::Device& device, DType type, std::int64_t columns, std::size_t count_of_terms,
                      Worst& worst) {
  const auto stream = device.make_stream();
  const Located sum{static_cast<TensorId>(count_of_terms), Shape({3, columns}), Layout{.dtype = type}};
  const auto count = static_cast<std::size_t>(3 * columns);
  std::vector<std::vector<float>> terms;
  std::vector<DeviceArray<std::byte>> arrays;
  std::vector<std::byte*> addresses;
  std::vector<TensorId> ids;
  for (std::size_t i = 0; i < count_of_terms; ++i) {
    terms.push_back(random_values(type, count, 20 + static_cast<std::uint32_t>(i)));
    arrays.emplace_back(device, *stream, encoded(type, terms.back()));
    addresses.push_back(arrays.back().get());
    ids.push_back(static_cast<TensorId>(i));
  }
  const DeviceArray<std::byte> dst(device, *stream, count * size_of(type));
  addresses.push_back(dst.get());
  const auto kernel = sum_kernel(ids, sum, stream.get());
  kernel->bind(Addresses(addresses));
  kernel->run();
  const std::vector<float> got = decoded(type, dst.read());
  for (std::size_t i = 0; i < count; ++i) {
    double wanted = 0.0, magnitude = 0.0;
    for (const std::vector<float>& term : terms) wanted += term[i], magnitude += std::abs(term[i]);
    // A sum of more than 8 terms is stored once between two launches.
    worst.add("sum", i, got[i], wanted, bound(type, magnitude, magnitude));
  }
}

inline void check_convert(runtime::Device& device, DType from, DType to, std::size_t count, Worst& worst) {
  const auto stream = device.make_stream();
  const std::vector<float> values = random_values(from, count, 7);
  const DeviceArray<std::byte> source(device, *stream, encoded(from, values));
  const DeviceArray<std::byte> target(device, *stream, count * size_of(to));
  convert(*stream, {from, source.get()}, {to, target.get()}, static_cast<std::int64_t>(count));
  const std::vector<float> got = decoded(to, target.read());
  for (std::size_t i = 0; i < count; ++i) worst.add("converted", i, got[i], rounded_to(to, values[i]), 0.0);
}

inline void check_bias(runtime::Device& device, DType type, std::int64_t channels, bool has_relu, Worst& worst) {
  const auto stream = device.make_stream();
  constexpr std::int64_t kRows = 70;
  const auto width = static_cast<std::size_t>(channels), count = kRows * width;
  const std::vector<float> values = random_values(type, count, 8), bias = random_values(DType::F32, width, 9);
  const DeviceArray<std::byte> on_values(device, *stream, encoded(type, values));
  const DeviceArray<float> on_bias(device, *stream, bias);
  add_bias(*stream, {{type, on_values.get()}, kRows, channels}, on_bias.get(), has_relu);
  const std::vector<float> got = decoded(type, on_values.read());
  for (std::size_t i = 0; i < count; ++i) {
    const double sum = double{values[i]} + double{bias[i % width]}, wanted = has_relu && sum < 0.0 ? 0.0 : sum;
    worst.add("biased", i, got[i], wanted, bound(type, wanted, std::abs(values[i]) + std::abs(bias[i % width])));
  }
}

inline void check_sum_rows(runtime::Device& device, DType type, std::int64_t rows, std::int64_t channels,
                           Worst& worst) {
  const auto stream = device.make_stream();
  const auto width = static_cast<std::size_t>(channels);
  const std::vector<float> values = random_values(type, static_cast<std::size_t>(rows) * width, 10);
  const DeviceArray<std::byte> on_values(device, *stream, encoded(type, values));
  const DeviceArray<float> sums(device, *stream, width);
  const DeviceArray<float> scratch(device, *stream, static_cast<std::size_t>(sum_rows_scratch(rows, channels)));
  sum_rows(*stream, {{type, on_values.get()}, rows, channels}, sums.get(), scratch.get());
  const std::vector<float> got = sums.read();
  for (std::size_t c = 0; c < width; ++c) {
    double wanted = 0.0, magnitude = 0.0;
    for (std::size_t i = c; i < values.size(); i += width) wanted += values[i], magnitude += std::abs(values[i]);
    // Each float32 addition rounds by at most 2^-24 of a partial sum.
    worst.add("sum of rows", c, got[c], wanted, static_cast<double>(rows) * 0x1p-24 * magnitude);
  }
}

inline Worst check_ops(runtime::Device& device, std::initializer_list<FlatOp> ops) {
  Worst worst;
  for (const DType type : {DType::Bf16, DType::F16, DType::F32}) {
    for (const FlatOp op : ops) {
      for (const std::size_t count : kCounts) check_op(device, op, type, count, worst);
    }
  }
  return worst;
}

}  // namespace flat_testing

/// Checks the elementwise operations without transcendental functions.
[[nodiscard]] inline Worst check_flat(runtime::Device& device) {
  return flat_testing::check_ops(device, {FlatOp::Copy, FlatOp::Relu, FlatOp::ReluBackward, FlatOp::SigmoidBackward});
}
/// Checks the elementwise operations that call expf(), whose last bits depend on the device.
[[nodiscard]] inline Worst check_flat_exponential(runtime::Device& device) {
  return flat_testing::check_ops(device, {FlatOp::Sigmoid, FlatOp::Silu, FlatOp::SiluBackward});
}
/// Checks sums of tensors, conversions of types, biases, and sums over rows.
[[nodiscard]] inline Worst check_flat_sums(runtime::Device& device) {
  Worst worst;
  constexpr DType kTypes[] = {DType::Bf16, DType::F16, DType::F32};
  for (const DType type : kTypes) {
    flat_testing::check_sum(device, type, 256, 3, worst);
    flat_testing::check_sum(device, type, 67, 11, worst);
    for (const DType to : kTypes) {
      for (const std::size_t count : flat_testing::kCounts) flat_testing::check_convert(device, type, to, count, worst);
    }
    for (const std::int64_t channels : {16, 5}) {
      for (const bool has_relu : {false, true}) flat_testing::check_bias(device, type, channels, has_relu, worst);
      flat_testing::check_sum_rows(device, type, 1030, channels + 28, worst);
    }
    flat_testing::check_sum_rows(device, type, 3, 40, worst);
  }
  return worst;
}

}  // namespace roentgen::engine::cuda
