// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Types that both sides of launch.h share: packs of neighbouring elements and the extent of a launch.
#pragma once

#include <cstddef>
#include <cstdint>

namespace roentgen::engine::cuda {

/// N neighbouring elements, read and written by accesses of 16 bytes, or of the whole pack where it is smaller.
template <typename T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Pack {
  T at[N];
};

/// ceil(a / b) for a >= 0, b > 0.
[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace roentgen::engine::cuda
