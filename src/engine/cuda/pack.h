// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Types that the CUDA and the emulated launch.h share: packs of neighbouring elements, and sizes of launches.
#pragma once

#include <cstddef>
#include <cstdint>

namespace roentgen::engine::cuda {

/// N neighbouring elements. A pack is read and written in accesses of 16 bytes, or as a whole if it is smaller.
template <typename T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Pack {
  T at[N];
};

/// ceil(a / b) for a >= 0, b > 0.
[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace roentgen::engine::cuda
