// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Pairs of planes of two split matrices that are multiplied, for units that loop over the pairs. Internal to
// tiles*.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace roentgen::engine::cpu::simd {

/// A product of two planes, one of each factor matrix. An f32 matrix is split into bf16 matrices, its planes, whose sum
/// approximates it.
struct Meeting {
  std::int64_t of_a = 0;
  std::int64_t of_b = 0;
};

/// Returns the products of planes that are computed, in their order, for f32 matrices split into `planes` bf16
/// matrices. The omitted products are below 2^-24 of the result for three planes, and below 2^-16 for two.
[[nodiscard]] inline std::span<const Meeting> meetings_of(std::int64_t planes) {
  static constexpr std::array<Meeting, 1> kOne{{{0, 0}}};
  static constexpr std::array<Meeting, 3> kThree{{{0, 1}, {0, 0}, {1, 0}}};
  static constexpr std::array<Meeting, 6> kSix{{{0, 1}, {0, 2}, {0, 0}, {2, 0}, {1, 0}, {1, 1}}};
  if (planes == 1) return kOne;
  if (planes == 2) return kThree;
  return kSix;
}

}  // namespace roentgen::engine::cpu::simd
