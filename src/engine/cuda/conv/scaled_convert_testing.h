// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks convert_scaled() against its formula in double, on any device.
#pragma once

#include <algorithm>
#include <limits>

#include "engine/cuda/conv/scaled_convert.h"
#include "engine/cuda/kernel_testing.h"

namespace roentgen::engine::cuda {
namespace scaled_convert_testing {

inline void check_types(runtime::Device& device, DType from, DType to, const ScaledConversion& conversion,
                        std::size_t count, Worst& worst) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto stream = device.make_stream();
  std::vector<float> values = random_values(from, count, 5, 0.0F, 1e-6F);
  // Magnitudes from below f16's smallest number to beyond its largest, with both signs.
  const float edges[] = {1e-9F, 1.0F, -60.0F, 65.0F, -70.0F, 6e4F, kInfinity, -kInfinity, std::nanf("")};
  for (std::size_t i = 0; i < std::min(std::size(edges), count); ++i) values[i] = rounded_to(from, edges[i]);
  const DeviceArray<std::byte> source(device, *stream, encoded(from, values));
  const DeviceArray<std::byte> target(device, *stream, count * size_of(to));
  convert_scaled(*stream, {from, source.get()}, {to, target.get()}, static_cast<std::int64_t>(count), conversion);
  const std::vector<float> got = decoded(to, target.read());
  // Distance of two neighbouring numbers of the result type near 0.
  const double step = to == DType::F16 ? 0x1p-24 : to == DType::Bf16 ? 0x1p-133 : 0x1p-149;
  for (std::size_t i = 0; i < count; ++i) {
    if (values[i] != values[i]) {
      worst.add("NaN", i, got[i] != got[i] ? 0.0 : 1.0, 0.0, 0.0);
      continue;
    }
    const double limit = conversion.limit;
    const double wanted = std::clamp(double{values[i]} * double{conversion.factor}, -limit, limit);
    worst.add("converted", i, got[i], wanted, half_ulp(to) * std::abs(wanted) + 0.5 * step);
  }
}

}  // namespace scaled_convert_testing

/// Checks the two conversions that the stem needs, for counts that are multiples of 8 and counts that are not.
[[nodiscard]] inline Worst check_scaled_convert(runtime::Device& device) {
  namespace testing = scaled_convert_testing;
  Worst worst;
  for (const std::size_t count : {std::size_t{1}, std::size_t{4096}, std::size_t{4099}}) {
    testing::check_types(device, DType::Bf16, DType::F16, {.factor = 1024.0F}, count, worst);
    testing::check_types(device, DType::F16, DType::F32, {.factor = 0x1p-10F, .limit = 0x1p-10F * kMostF16}, count,
                         worst);
  }
  return worst;
}

}  // namespace roentgen::engine::cuda
