// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Products of f32 matrices whose rows are pixels of 16 channels, read in place from tensors. All sums of a few rows and
// columns stay in registers. Requires AVX-512.
#pragma once

#include <cstdint>

#include "engine/cpu/simd/fetching.h"
#include "engine/cpu/simd/tiles.h"

namespace roentgen::engine::cpu::simd {

/// True if this machine has AVX-512 and oneDNN may use it (DNNL_MAX_CPU_ISA). Bf16 instructions are not needed. Without
/// AVX-512, only turn_square() may be called.
[[nodiscard]] bool has_avx512();

/// Writes normalised rows i < count of `source`, which must have a scale, to `to`: consecutive rows of 16 numbers.
void normalise_rows(const PackSource<float>& source, std::int64_t count, float* to);

/// Transposes a matrix of 16 x 16 numbers. `to` must differ from `from`. Works on any machine.
void turn_square(const float* from, float* to);

/// Largest number of 16-column blocks in one product.
constexpr int kMostColumns = 2;

/// Computes c = a * b, followed by the epilogue. Rows are pixels. The sum over terms has `steps` blocks of 16 terms.
/// The result has `columns` blocks of 16 columns.
struct RowProduct {
  const float* a = nullptr;   ///< [step][row][16]
  std::int64_t a_step = 0;    ///< floats from one step's rows of `a` to the next
  const float* b = nullptr;   ///< [column][step][16 terms][16]
  std::int64_t b_column = 0;  ///< floats from one block of columns to the next
  std::int64_t steps = 0;
  std::int64_t rows = 0;
  int columns = kMostColumns;
  float* c = nullptr;          ///< [column][row][16], 64-byte aligned
  std::int64_t c_column = 0;   ///< floats from one block of columns to the next
  bool is_streaming = false;   ///< writes c with stores that bypass the caches
  bool is_claiming = false;    ///< claims the cache lines of c for writing (claim.h) before the products
  bool is_first = false;       ///< `a` was not read before, so the kernel prefetches it
  Fetching* ahead = nullptr;   ///< prefetches lines while the product counts rows times steps
  Fetching* beside = nullptr;  ///< second prefetch, which counts like `ahead`
  /// Epilogue: the written value is act(result + bias + the value in memory).
  const float* bias = nullptr;  ///< 16 floats per column block, added to the result; null: none
  bool adds = false;            ///< adds the value in memory to the result; not with is_streaming
  bool relu = false;
  /// Pivot, 16 floats per column block; null: no sums. For each column, the written values minus the pivot, and the
  /// squares of these differences, are added to f64 sums. Sums of column blocks are `sum_column` doubles apart.
  const float* pivot = nullptr;
  double* sum = nullptr;
  double* sum_sq = nullptr;
  std::int64_t sum_column = 0;
};
/// Writes all rows of c, and the sums that are requested.
void row_product(const RowProduct& work);

/// Computes c = (or +=) the sum over pixels of outer products: a's 16 numbers times those of each of `columns` blocks
/// of b.
struct PixelProduct {
  const float* a = nullptr;   ///< [pixel][16]
  const float* b = nullptr;   ///< [column][pixel][16]
  std::int64_t b_column = 0;  ///< floats from one block of columns to the next
  std::int64_t pixels = 0;
  int columns = kMostColumns;
  float* c = nullptr;         ///< result in the layout [column][16 of a][16 of b]
  std::int64_t c_column = 0;  ///< floats from one block of columns to the next
  bool is_accumulating = false;
  Fetching* ahead = nullptr;  ///< prefetches lines while the product counts pixels
};
/// Adds the pixels in order, in f32.
void pixel_product(const PixelProduct& work);

}  // namespace roentgen::engine::cpu::simd
