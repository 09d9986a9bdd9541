// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks mask() against the random streams of core/random.h, on any device.
#pragma once

#include "core/random.h"
#include "engine/cuda/elementwise/mask.h"
#include "engine/cuda/kernel_testing.h"

namespace roentgen::engine::cuda {

/// Checks every element for an odd count with two random streams, in a step beyond 32 bits.
[[nodiscard]] inline Worst check_mask(runtime::Device& device) {
  Worst worst;
  constexpr std::size_t kCount = 1500 + 1, kChunk = 1024;
  constexpr std::uint64_t kSeed = 0x1234'5678'9ABC;
  constexpr std::int64_t kStep = (std::int64_t{1} << 32) + 5;
  constexpr double kProbability = 0.4;
  for (const DType type : {DType::Bf16, DType::F16, DType::F32}) {
    const auto stream = device.make_stream();
    const std::vector<float> src = random_values(type, kCount, 15);
    const DeviceArray<std::byte> on_src(device, *stream, encoded(type, src));
    const DeviceArray<std::byte> dst(device, *stream, kCount * size_of(type));
    const DeviceArray<StepState> state(device, *stream, std::vector{StepState{.step = kStep}});
    mask(*stream, {type, state.get(), kSeed, kProbability, kCount, on_src.get(), dst.get()});
    const std::vector<float> got = decoded(type, dst.read());
    const auto factor = static_cast<float>(1.0 / (1.0 - kProbability));
    for (std::size_t begin = 0; begin < kCount; begin += kChunk) {
      Random random(kSeed, RandomStage::Dropout, std::uint64_t{kStep}, static_cast<std::uint32_t>(begin / kChunk));
      for (std::size_t i = begin; i < std::min(begin + kChunk, kCount); ++i) {
        const float wanted = random.uniform() < kProbability ? 0.0F : rounded_to(type, src[i] * factor);
        worst.add("dropout", i, got[i], wanted, 0.0);
      }
    }
  }
  return worst;
}

}  // namespace roentgen::engine::cuda
