// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Results of products before they are stored. Internal to split_conv.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/cpu/bf16.h"
#include "engine/cpu/simd/tiles.h"

namespace roentgen::engine::cpu {

/// Most rows that are computed before they are stored.
constexpr std::int64_t kResultRows = 128;

/// Up to kResultRows rows of 16 results, as they would be stored: as they are, or rounded.
template <class T>
class ResultRows;
template <>
class ResultRows<float> {
 public:
  ResultRows(simd::TileUnit /*unit*/, const float* c, std::int64_t /*rows*/) : rows_(c) {}
  [[nodiscard]] const float* data() const { return rows_; }

 private:
  const float* rows_;
};
template <>
class ResultRows<Bf16> {
 public:
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): zeros would be written for every tile
  ResultRows(simd::TileUnit unit, const float* c, std::int64_t rows) {
    simd::put_results(unit, simd::TileResults<Bf16>{.c = c, .at = kAt.data(), .rows = rows, .base = rows_.data()});
  }
  [[nodiscard]] const Bf16* data() const { return rows_.data(); }

 private:
  static constexpr std::array<std::int64_t, kResultRows> kAt = [] {
    std::array<std::int64_t, kResultRows> at{};
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = static_cast<std::int64_t>(i) * simd::kTileRows;
    return at;
  }();
  alignas(64) std::array<Bf16, kResultRows * simd::kTileRows> rows_;  // set by the constructor where they are read
};

}  // namespace roentgen::engine::cpu
