// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Products of f32 matrices whose rows are pixels of 16 channels, as tensors have them: what lies in a tensor is
// multiplied where it lies. All sums of a few rows and columns stay in registers. On AVX-512 alone.
#pragma once

#include <cstdint>

#include "engine/cpu/simd/fetching.h"
#include "engine/cpu/simd/tiles.h"

namespace roentgen::engine::cpu::simd {

/// Whether this machine has AVX-512, limited to what oneDNN may use (DNNL_MAX_CPU_ISA). Bf16 instructions are not
/// needed. Only turn_square() may be called without it.
[[nodiscard]] bool has_avx512();

/// Rows i < count of a source with a scale, normalised, to `to`, 16 numbers each, one after another.
void normalise_rows(const PackSource<float>& source, std::int64_t count, float* to);

/// 16 x 16 numbers, turned; `to` is not `from`. On any machine.
void turn_square(const float* from, float* to);

/// Largest number of blocks of 16 columns in one product.
constexpr int kMostColumns = 2;

/// c = a * b, or the result after bias, adds and relu. Rows are pixels, each of `steps` blocks of 16 terms; there are
/// `columns` blocks of 16 columns.
struct RowProduct {
  const float* a = nullptr;   ///< [step][row][16]
  std::int64_t a_step = 0;    ///< floats from one step to the next
  const float* b = nullptr;   ///< [column][step][16 terms][16]
  std::int64_t b_column = 0;  ///< floats from one block of columns to the next
  std::int64_t steps = 0;
  std::int64_t rows = 0;
  int columns = kMostColumns;
  float* c = nullptr;          ///< [column][row][16], 64-byte aligned
  std::int64_t c_column = 0;   ///< floats from one block of columns to the next
  bool is_streaming = false;   ///< c, past the caches
  bool is_claiming = false;    ///< lines of c are claimed (claim.h) before the products
  bool is_first = false;       ///< `a` was not read before: prefetch it
  Fetching* ahead = nullptr;   ///< prefetch that counts rows times steps
  Fetching* beside = nullptr;  ///< second prefetch, counted alike
  /// Epilogue: the written value is act(result + bias + the value in memory).
  const float* bias = nullptr;  ///< 16 a column, or null
  bool adds = false;            ///< not with is_streaming
  bool relu = false;
  /// Pivot, 16 numbers a column, or null. For each column, the written values minus the pivot and their squares are
  /// added to sums, in f64. Sums of columns are `sum_column` apart.
  const float* pivot = nullptr;
  double* sum = nullptr;
  double* sum_sq = nullptr;
  std::int64_t sum_column = 0;
};
/// Writes all rows of c, and the sums that are requested.
void row_product(const RowProduct& work);

/// c = (or +=) the sum over pixels of a's 16 numbers by those of each of `columns` blocks of b.
struct PixelProduct {
  const float* a = nullptr;   ///< [pixel][16]
  const float* b = nullptr;   ///< [column][pixel][16]
  std::int64_t b_column = 0;  ///< floats
  std::int64_t pixels = 0;
  int columns = kMostColumns;
  float* c = nullptr;         ///< [column][16 of a][16 of b]
  std::int64_t c_column = 0;  ///< floats
  bool is_accumulating = false;
  Fetching* ahead = nullptr;  ///< prefetch that counts pixels
};
/// Sums over the pixels in order, in f32.
void pixel_product(const PixelProduct& work);

}  // namespace roentgen::engine::cpu::simd
