// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks normalise() against its formula in double, on any device.
#pragma once

#include <array>

#include "engine/cuda/kernel_testing.h"
#include "engine/cuda/normalise.h"

namespace roentgen::engine::cuda {

/// Sets scale and shift for (v / white - mean) / stddev, with the ImageNet constants of torchvision.
[[nodiscard]] inline Normalise with_constants(Normalise work) {
  const float white = work.src == DType::U8 ? 255.0F : 65535.0F;
  constexpr std::array<float, 3> kMean{0.485F, 0.456F, 0.406F};
  constexpr std::array<float, 3> kStddev{0.229F, 0.224F, 0.225F};
  for (std::size_t c = 0; c < 3; ++c) {
    work.scale[c] = 1.0F / (white * kStddev[c]);
    work.shift[c] = -kMean[c] / kStddev[c];
  }
  return work;
}

/// Returns cases with every combination of types and channels, and with sizes around that of a block.
[[nodiscard]] inline std::vector<Normalise> normalise_cases() {
  std::vector<Normalise> cases;
  for (const DType src : {DType::U8, DType::U16}) {
    for (const DType dst : {DType::F32, DType::Bf16, DType::F16}) {
      for (const std::int64_t channels : {1, 3}) {
        for (const std::int64_t dst_channels : {4, 8}) {
          for (const std::int64_t pixels : {61 * 53, 32 * 32}) {
            cases.push_back(with_constants({src, dst, 2, channels, pixels, dst_channels}));
          }
        }
      }
    }
  }
  for (const std::int64_t pixels : {1, 2, 255, 256, 257}) {
    cases.push_back(with_constants({.images = 1, .channels = 1, .pixels = pixels}));
  }
  return cases;
}

/// Runs the kernel on random gray levels and compares every element with the formula, within one rounding.
[[nodiscard]] inline Worst check_normalise_values(runtime::Device& device, const Normalise& work, std::uint32_t seed) {
  const auto stream = device.make_stream();
  std::vector<std::byte> samples(src_bytes(work));
  Random random(seed, RandomStage::Test);
  for (std::byte& sample : samples) sample = static_cast<std::byte>(random.next_u32());
  const auto src = device.make_device_buffer(samples.size()), dst = device.make_device_buffer(dst_bytes(work));
  std::vector<std::byte> result(dst_bytes(work), std::byte{0xFF});  // NaN, which the kernel must overwrite
  stream->upload(result, *dst, 0);
  stream->upload(samples, *src, 0);
  normalise(*stream, work, src->address(), dst->address());
  stream->download(*dst, 0, result);
  stream->synchronize();
  const std::vector<float> got = decoded(work.dst, result);
  Worst worst;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto channels = static_cast<std::size_t>(work.dst_channels), pixels = static_cast<std::size_t>(work.pixels);
    const std::size_t c = i % channels, pixel = i / channels;
    double wanted = 0.0;
    if (c < static_cast<std::size_t>(work.channels)) {
      const std::size_t at = (pixel / pixels * static_cast<std::size_t>(work.channels) + c) * pixels + pixel % pixels;
      std::uint16_t sample = 0;
      std::memcpy(&sample, samples.data() + at * size_of(work.src), size_of(work.src));
      wanted = double{work.scale[c]} * sample + work.shift[c];
    }
    // fmaf rounds once to float32, then the value is rounded to its type. Subnormal f16 values are multiples of 2^-24.
    const double smallest = work.dst == DType::F16 ? 0x1p-25 : 0.0;
    worst.add("dst", i, got[i], wanted, (half_ulp(work.dst) + 0x1p-24) * std::abs(wanted) + smallest);
  }
  return worst;
}

}  // namespace roentgen::engine::cuda
