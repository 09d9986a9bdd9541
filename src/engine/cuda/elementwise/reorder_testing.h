// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks reorder_kernel() and copy_channels() against naive loops, on any device.
#pragma once

#include "engine/cuda/elementwise/channel_copy.h"
#include "engine/cuda/elementwise/reorder.h"
#include "engine/cuda/kernel_testing.h"

namespace roentgen::engine::cuda {
namespace reorder_testing {

/// Index of the element in image n, channel c and pixel p.
inline std::size_t index_of(const Located& at, std::int64_t n, std::int64_t c, std::int64_t p) {
  const std::int64_t channels = padded_channels(at.shape, at.layout), area = pixels(at.shape);
  const bool is_last = at.layout.order == Order::ChannelsLast;
  return static_cast<std::size_t>(n * channels * area + (is_last ? p * channels + c : c * area + p));
}

inline void check_one(runtime::Device& device, const Located& from, const Located& to, Worst& worst) {
  const auto stream = device.make_stream();
  const std::vector<float> values =
      random_values(from.layout.dtype, static_cast<std::size_t>(stored_elements(from.shape, from.layout)), 12);
  const DeviceArray<std::byte> source(device, *stream, encoded(from.layout.dtype, values));
  const DeviceArray<std::byte> target(device, *stream, stored_bytes(to.shape, to.layout));
  const auto kernel = reorder_kernel(from, to, stream.get());
  kernel->bind(Addresses({source.get(), target.get()}));
  kernel->run();
  const std::vector<float> got = decoded(to.layout.dtype, target.read());
  for (std::int64_t n = 0; n < to.shape[0]; ++n) {
    for (std::int64_t c = 0; c < padded_channels(to.shape, to.layout); ++c) {
      for (std::int64_t p = 0; p < pixels(to.shape); ++p) {
        const float value = c < to.shape[1] ? values[index_of(from, n, c, p)] : 0.0F;
        const std::size_t at = index_of(to, n, c, p);
        worst.add("reordered", at, got[at], rounded_to(to.layout.dtype, value), 0.0);
      }
    }
  }
}

inline void check_copy(runtime::Device& device, DType type, std::int64_t unit, Worst& worst) {
  const auto stream = device.make_stream();
  constexpr std::int64_t kRows = 60;
  ChannelCopy work{.from = {{type, nullptr}, kRows, 4 * unit},
                   .to = {{type, nullptr}, kRows, 6 * unit},
                   .from_begin = unit,
                   .to_begin = 2 * unit,
                   .count = 2 * unit,
                   .written = 3 * unit};
  const std::vector<float> from = random_values(type, static_cast<std::size_t>(kRows * work.from.channels), 13);
  const std::vector<float> to = random_values(type, static_cast<std::size_t>(kRows * work.to.channels), 14);
  const DeviceArray<std::byte> source(device, *stream, encoded(type, from));
  const DeviceArray<std::byte> target(device, *stream, encoded(type, to));
  work.from.values.address = source.get(), work.to.values.address = target.get();
  copy_channels(*stream, work);
  const std::vector<float> got = decoded(type, target.read());
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::int64_t row = static_cast<std::int64_t>(i) / work.to.channels;
    const std::int64_t channel = static_cast<std::int64_t>(i) % work.to.channels - work.to_begin;
    float wanted = to[i];  // channels around the copied ones stay unchanged
    if (channel >= 0 && channel < work.written) wanted = 0.0F;
    if (channel >= 0 && channel < work.count) {
      wanted = from[static_cast<std::size_t>(row * work.from.channels + work.from_begin + channel)];
    }
    worst.add("copied channels", i, got[i], wanted, 0.0);
  }
}

}  // namespace reorder_testing

/// Checks both directions between planes and channels last, with padded channels, in all pairs of types.
[[nodiscard]] inline Worst check_reorder(runtime::Device& device) {
  Worst worst;
  constexpr DType kTypes[] = {DType::Bf16, DType::F16, DType::F32};
  for (const DType from : kTypes) {
    for (const DType to : kTypes) {
      for (const auto& [channels, block] : {std::pair{11, 8}, std::pair{3, 4}, std::pair{16, 8}}) {
        const Shape shape({2, channels, 5, 7});
        const Layout plain{.dtype = from}, last{Order::ChannelsLast, block, to};
        reorder_testing::check_one(device, {0, shape, plain}, {1, shape, last}, worst);
        reorder_testing::check_one(device, {0, shape, last.as(from)}, {1, shape, plain.as(to)}, worst);
      }
      const Shape matrix({37, 14});
      reorder_testing::check_one(device, {0, matrix, Layout{.dtype = from}}, {1, matrix, Layout{.dtype = to}}, worst);
    }
  }
  return worst;
}

/// Checks copies of channels between images, in whole packs and one by one.
[[nodiscard]] inline Worst check_channel_copy(runtime::Device& device) {
  Worst worst;
  for (const DType type : {DType::Bf16, DType::F16, DType::F32}) {
    for (const std::int64_t unit : {8, 5}) reorder_testing::check_copy(device, type, unit, worst);
  }
  return worst;
}

}  // namespace roentgen::engine::cuda
