// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Products of transformed tiles. All sums of a few rows and columns stay in registers.
#include "engine/cpu/simd/winograd.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/simd/winograd_products.cpp"
#include "engine/cpu/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "engine/cpu/simd/elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace roentgen::engine::cpu::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Rows of accumulators that fit into the registers, together with `kColumns` operands and one broadcast value.
constexpr int kRegisters = HWY_TARGET <= HWY_AVX3 ? 32 : 16;
template <int kColumns>
constexpr int kMostRows = (kRegisters - 2 - kColumns) / kColumns < 12 ? (kRegisters - 2 - kColumns) / kColumns : 12;

// Product of kRows tiles and kColumns vectors of result channels, over all input channels.
template <int kRows, int kColumns, class D>
HWY_INLINE void product_tile(D d, const WinogradProduct& work, std::int64_t lane, std::int64_t tile) {
  hn::Vec<D> sums[kRows][kColumns];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int c = 0; c < kColumns; ++c) sums[r][c] = hn::Zero(d);
  }
  const std::int64_t block = work.block;
  const std::int64_t width = kColumns * block;
  const float* weights = work.weights + lane;
  for (std::int64_t in_block = 0; in_block < work.in_blocks; ++in_block) {
    if (lane == 0 && work.fetching != nullptr) work.fetching->step(kRows);
    const float* values = work.values + in_block * work.row_stride + tile * block;
    for (std::int64_t i = 0; i < block; ++i) {
      hn::Vec<D> w[kColumns];
#pragma GCC unroll 16
      for (int c = 0; c < kColumns; ++c) w[c] = hn::LoadU(d, weights + c * block);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const auto value = hn::Set(d, values[r * block + i]);
#pragma GCC unroll 16
        for (int c = 0; c < kColumns; ++c) sums[r][c] = hn::MulAdd(value, w[c], sums[r][c]);
      }
      weights += width;
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int c = 0; c < kColumns; ++c) {
      hn::StoreU(sums[r][c], d, work.result + c * work.row_stride + (tile + r) * block + lane);
    }
  }
}

// Product of the last `rows` < kMostRows tiles, with a kernel for every number of rows.
template <int kRows, int kColumns, class D>
HWY_INLINE void product_rest(D d, const WinogradProduct& work, std::int64_t lane, std::int64_t tile,
                             std::int64_t rows) {
  if constexpr (kRows > 0) {
    if (rows == kRows) {
      product_tile<kRows, kColumns>(d, work, lane, tile);
    } else {
      product_rest<kRows - 1, kColumns>(d, work, lane, tile, rows);
    }
  }
}

template <int kColumns, class D>
HWY_INLINE void product_lanes(D d, const WinogradProduct& work, std::int64_t lane) {
  constexpr int kRows = kMostRows<kColumns>;
  std::int64_t tile = 0;
  for (; tile + kRows <= work.tiles; tile += kRows) product_tile<kRows, kColumns>(d, work, lane, tile);
  product_rest<kRows - 1, kColumns>(d, work, lane, tile, work.tiles - tile);
}

// Number of input channels processed together. It divides every block size (the smallest is 8) and fits the registers.
template <int kColumns>
constexpr int kGradientRows = kColumns == 1   ? 8
                              : kColumns == 3 ? (kRegisters >= 32 ? 8 : 4)
                                              : (kRegisters >= 32 ? 16 : 8) / kColumns;

// Number of tiles between two steps of the prefetch. Many lines at once would stall the loop.
constexpr std::int64_t kTilesAtOnce = 16;

template <int kColumns, class D>
HWY_INLINE void gradient_lanes(D d, const WinogradGradientProduct& work, std::int64_t lane) {
  constexpr int kRows = kGradientRows<kColumns>;
  const std::int64_t block = work.block;
  const std::int64_t width = kColumns * block;
  for (std::int64_t channel = 0; channel < work.in_blocks * block; channel += kRows) {
    hn::Vec<D> sums[kRows][kColumns];
    float* to = work.weights + channel * width + lane;
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
      for (int c = 0; c < kColumns; ++c) {
        sums[r][c] = work.is_accumulating ? hn::LoadU(d, to + r * width + c * block) : hn::Zero(d);
      }
    }
    const float* values = work.values + channel / block * work.row_stride + channel % block;
    const float* gradients = work.gradients + lane;
    for (std::int64_t tile = 0; tile < work.tiles;) {
      const std::int64_t end = std::min(tile + kTilesAtOnce, work.tiles);
      if (lane == 0 && work.fetching != nullptr) work.fetching->step((end - tile) * kRows);
      for (; tile < end; ++tile) {
        hn::Vec<D> g[kColumns];
#pragma GCC unroll 16
        for (int c = 0; c < kColumns; ++c) g[c] = hn::LoadU(d, gradients + c * work.row_stride);
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r) {
          const auto value = hn::Set(d, values[r]);
#pragma GCC unroll 16
          for (int c = 0; c < kColumns; ++c) sums[r][c] = hn::MulAdd(value, g[c], sums[r][c]);
        }
        values += block;
        gradients += block;
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
      for (int c = 0; c < kColumns; ++c) hn::StoreU(sums[r][c], d, to + r * width + c * block);
    }
  }
}

void product_target(const WinogradProduct& work) {
  for_lanes(work.block, [&](auto d, std::int64_t lane) HWY_ATTR {
    if (work.group == 4) {
      product_lanes<4>(d, work, lane);
    } else if (work.group == 3) {
      product_lanes<3>(d, work, lane);
    } else if (work.group == 2) {
      product_lanes<2>(d, work, lane);
    } else {
      product_lanes<1>(d, work, lane);
    }
  });
}
void gradient_product_target(const WinogradGradientProduct& work) {
  for_lanes(work.block, [&](auto d, std::int64_t lane) HWY_ATTR {
    if (work.group == 4) {
      gradient_lanes<4>(d, work, lane);
    } else if (work.group == 3) {
      gradient_lanes<3>(d, work, lane);
    } else if (work.group == 2) {
      gradient_lanes<2>(d, work, lane);
    } else {
      gradient_lanes<1>(d, work, lane);
    }
  });
}

}  // namespace roentgen::engine::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace roentgen::engine::cpu::simd {

HWY_EXPORT(product_target);
HWY_EXPORT(gradient_product_target);

void winograd_product(const WinogradProduct& work) { HWY_DYNAMIC_DISPATCH(product_target)(work); }
void winograd_gradient_product(const WinogradGradientProduct& work) {
  HWY_DYNAMIC_DISPATCH(gradient_product_target)(work);
}

}  // namespace roentgen::engine::cpu::simd
#endif
