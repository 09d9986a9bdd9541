// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks the kernels of wire.h against loops in float32, on any device.
#pragma once

#include "engine/cuda/elementwise/wire.h"
#include "engine/cuda/kernel_testing.h"

namespace roentgen::engine::cuda {
namespace wire_testing {

/// Ranks of a mean: number of other ranks, and how many of them are added before this rank.
struct Order {
  int others = 0;
  int own_at = 0;
};

inline void check_mean(runtime::Device& device, DType wire, const Order& order, Worst& worst) {
  constexpr std::size_t kCount = 1003, kStride = kCount + 5;
  const auto stream = device.make_stream();
  const auto others = static_cast<std::size_t>(order.others);
  const std::vector<float> own = random_values(DType::F32, kCount, 21, 0.1F, 3.0F);
  const std::vector<float> received = random_values(wire, others * kStride, 22, 0.1F, 3.0F);
  const DeviceArray<float> on_own(device, *stream, own);
  const DeviceArray<std::byte> on_received(device, *stream, encoded(wire, received));
  const DeviceArray<std::byte> mean(device, *stream, kCount * size_of(wire));
  const float factor = 1.0F / static_cast<float>(order.others + 1);
  wire_kernels().mean_of_ranks(*stream,
                               {.wire = wire,
                                .own = {on_own.get(), kCount},
                                .received = {reinterpret_cast<std::uint16_t*>(on_received.get()), received.size()},
                                .stride = kStride,
                                .others = order.others,
                                .own_at = order.own_at,
                                .factor = factor,
                                .mean = {reinterpret_cast<std::uint16_t*>(mean.get()), kCount}});
  const std::vector<float> got = decoded(wire, mean.read());
  for (std::size_t i = 0; i < kCount; ++i) {
    std::vector<float> terms;
    for (std::size_t other = 0; other < others; ++other) terms.push_back(received[other * kStride + i]);
    terms.insert(terms.begin() + order.own_at, own[i]);
    float sum = terms[0];
    for (std::size_t term = 1; term < terms.size(); ++term) sum += terms[term];
    worst.add("mean of ranks", i, got[i], rounded_to(wire, sum * factor), 0.0);
  }
}

inline void check_conversions(runtime::Device& device, DType wire, Worst& worst) {
  constexpr std::size_t kCount = 1000;
  const auto stream = device.make_stream();
  std::vector<float> values = random_values(DType::F32, kCount, 23);
  values[0] = 7e4F;    // infinite in f16
  values[1] = -3e-8F;  // below the smallest number of f16, but above half of it
  const DeviceArray<float> src(device, *stream, values), wide(device, *stream, kCount);
  const DeviceArray<std::byte> halves(device, *stream, kCount * size_of(wire));
  const runtime::DeviceSpan<std::uint16_t> span{reinterpret_cast<std::uint16_t*>(halves.get()), kCount};
  wire_kernels().narrow(*stream, wire, {src.get(), kCount}, span);
  wire_kernels().widen(*stream, wire, span, {wide.get(), kCount});
  const std::vector<float> got = wide.read();
  for (std::size_t i = 0; i < kCount; ++i) {
    const float wanted = rounded_to(wire, values[i]);
    worst.add("to 16 bits and back", i, got[i] == wanted ? 0.0 : 1.0, 0.0, 0.0);
  }
}

}  // namespace wire_testing

/// Checks means of one to five ranks for every place of this rank, and both conversions, in bf16 and f16.
[[nodiscard]] inline Worst check_wire(runtime::Device& device) {
  Worst worst;
  for (const DType wire : {DType::Bf16, DType::F16}) {
    for (const wire_testing::Order& order : {wire_testing::Order{0, 0}, {1, 0}, {1, 1}, {4, 0}, {4, 2}, {4, 4}}) {
      wire_testing::check_mean(device, wire, order, worst);
    }
    wire_testing::check_conversions(device, wire, worst);
  }
  return worst;
}

}  // namespace roentgen::engine::cuda
