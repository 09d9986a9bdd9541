// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests that InputSlots must pass on any device. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "core/random.h"
#include "engine/cuda/input_slots.h"

namespace roentgen::engine::cuda {

/// Two inputs of different size: a megabyte of gray levels, and a few labels.
inline std::vector<InputSpec> two_inputs() {
  return {{.name = "image", .shape = {4, 1, 512, 512}, .dtype = DType::U8, .bytes = 4 * 512 * 512},
          {.name = "labels", .shape = {4, 3}, .dtype = DType::F32, .bytes = 4 * 3 * 4}};
}

inline std::vector<std::byte> random_bytes(std::size_t count, std::uint64_t seed) {
  Random random(seed, RandomStage::Test);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next_u32());
  return bytes;
}

/// Runs twenty steps over three slots. Overwrites slot k as early as the contract allows: right after bind(k + 1).
inline void expect_every_batch_arrives_whole(runtime::Device& device) {
  InputSlots slots(device, two_inputs(), 3);
  const auto compute = device.make_stream();
  std::vector<std::vector<std::unique_ptr<runtime::PinnedBuffer>>> received;
  constexpr int kSteps = 20;
  for (int step = 0; step < kSteps; ++step) {
    received.emplace_back();
    for (std::size_t i = 0; i < two_inputs().size(); ++i) {
      const std::vector<std::byte> batch =
          random_bytes(two_inputs()[i].bytes, static_cast<std::uint64_t>(step) * 2 + i);
      std::ranges::copy(batch, slots.slot(static_cast<std::int64_t>(i), step % 3).begin());
    }
    slots.bind(step % 3, *compute);
    for (std::size_t i = 0; i < two_inputs().size(); ++i) {
      received.back().push_back(device.make_pinned_buffer(two_inputs()[i].bytes));
      compute->download(slots.bound(static_cast<std::int64_t>(i)), *received.back().back());
    }
    if (step == 0) continue;
    for (std::size_t i = 0; i < two_inputs().size(); ++i) {
      std::ranges::fill(slots.slot(static_cast<std::int64_t>(i), (step - 1) % 3), std::byte{0xEE});
    }
  }
  compute->synchronize();
  for (int step = 0; step < kSteps; ++step) {
    for (std::size_t i = 0; i < two_inputs().size(); ++i) {
      const std::vector<std::byte> batch =
          random_bytes(two_inputs()[i].bytes, static_cast<std::uint64_t>(step) * 2 + i);
      EXPECT_TRUE(std::ranges::equal(received[static_cast<std::size_t>(step)][i]->bytes(), batch))
          << "step " << step << ", input " << i;
    }
  }
}

}  // namespace roentgen::engine::cuda
