// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Products of f32 matrices on the machine's bf16 tiles (Intel AMX), with the accuracy of f32. Every number is the sum
// of three bf16 numbers (8 + 8 + 8 bits). Six of the nine products are summed in f32; the others are negligible.
// Source: Henry, Tang, Heinecke, "Leveraging the bfloat16 Artificial Intelligence Datatype For Higher-Precision
// Computations", arXiv 1904.06376. A tile unit does 16 times the multiplications of an AVX-512 unit, so six products on
// tiles are still faster than one in AVX-512. AVX-512 does twice as many bf16 multiplications as f32 ones, which is
// enough for bf16 values but not for split ones.
//
// A number can also be split into two bf16 numbers (16 bits), with three products. Each product is then off by at most
// 2^-15, and by 4e-6 in the mean square. In this mode, a NaN whose upper 17 bits are all ones (memory filled with ones)
// counts as zero.
//
// A split matrix has two or three planes, `plane` bytes apart: the number rounded to bf16, its remainder rounded to
// bf16, and the rest. A tile is 16 rows of 64 bytes: 16 pairs of bf16 per row. Rows of the left matrix hold 32
// consecutive terms of the sum, two per pair. Row r of the right matrix holds terms 2r and 2r + 1 of 16 columns.
//
// Values that are bf16 already have one plane and need one product.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/cpu/plan/bf16.h"

namespace roentgen::engine::cpu::simd {

/// Rows and terms of a tile, and its sizes in bytes.
constexpr std::int64_t kTileRows = 16, kTileTerms = 32, kTileRow_bytes = 64, kTile_bytes = 1024;

/// True if this machine has tiles, the system lets this process use them, and oneDNN may use them (DNNL_MAX_CPU_ISA).
/// The first call asks the system for permission.
[[nodiscard]] bool has_tiles();

/// Name of the instructions that multiply tiles: "AMX", or "no tiles". Differs if tests emulate them.
[[nodiscard]] std::string_view tile_instructions();

/// Unit that computes products. Amx: tiles. Avx512: bf16 instructions of AVX-512, in the same layouts. Avx512F32:
/// AVX-512 in f32, without tiles (simd/pointwise.h). Plain: loops that compute the same sums anywhere, hundreds of
/// times slower, for tests.
enum class ProductUnit : std::uint8_t { Plain, Amx, Avx512, Avx512F32 };

/// True if this machine has the unit and oneDNN may use its instructions (DNNL_MAX_CPU_ISA).
[[nodiscard]] bool has_unit(ProductUnit unit);

/// Fastest unit on this machine that multiplies bf16 values; nullopt if only plain loops do.
[[nodiscard]] std::optional<ProductUnit> bf16_unit();

/// Name of the unit in plans: "AMX", "AVX512" (both AVX-512 units) or "plain".
[[nodiscard]] std::string_view name_of(ProductUnit unit);

/// Configures the calling thread's tiles for its lifetime. Its destructor orders the thread's streaming stores before
/// later ones. At most one per thread at a time. Does nothing for ProductUnit::Plain.
class TileSession {
 public:
  explicit TileSession(ProductUnit unit);
  ~TileSession();
  TileSession(const TileSession&) = delete;
  TileSession& operator=(const TileSession&) = delete;

 private:
  ProductUnit unit_;
};

/// Rows of 16 numbers to split, of float or Bf16. Row i is at `base + at[i * at_step]`; it is zero if that offset is
/// negative or `base` is null. With a scale, it is numbers * scale + shift per channel, then max(., 0) if `relu`, as in
/// batch norm.
template <class T>
struct PackSource {
  const T* base = nullptr;
  const std::int64_t* at = nullptr;
  std::int64_t at_step = 1;
  const float* scale = nullptr;
  const float* shift = nullptr;
  bool relu = false;
};

/// Packs rows i < count, each 16 pairs (number l of `first`, number l of `second`), rows 64 bytes apart. Writes two or
/// three planes, `plane` bytes apart, or one plane of numbers rounded to bf16. Bf16 sources have one plane. Both
/// sources must have a scale or neither.
template <class T>
void pack_pairs(ProductUnit unit, const PackSource<T>& first, const PackSource<T>& second, std::int64_t count,
                std::byte* to, std::int64_t planes, std::int64_t plane);

/// Packs 16 rows of both sources, transposed: row l holds the pairs (number l of `first`, number l of `second`) of all
/// 16 rows. Result rows are `row` bytes apart.
template <class T>
void pack_turned(ProductUnit unit, const PackSource<T>& first, const PackSource<T>& second, std::byte* to,
                 std::int64_t row, std::int64_t planes, std::int64_t plane);

/// Product of up to 2 x 2 tiles of results, 16 x 16 numbers each, with rows 64 bytes apart:
///   c = (or +=) sum over steps of a * b
struct TileProduct {
  const std::byte* a = nullptr;
  const std::int64_t* a_steps = nullptr;  ///< offset of each step's terms from `a`, in bytes
  std::int64_t a_tile = 0;                ///< bytes from one tile of rows to the next
  std::int64_t a_row = kTileRow_bytes;
  std::int64_t a_plane = 0;
  const std::byte* b = nullptr;
  std::int64_t b_step = 0;
  std::int64_t b_tile = 0;
  std::int64_t b_plane = 0;
  float* c = nullptr;
  std::int64_t c_row_tile = 0;     ///< floats
  std::int64_t c_column_tile = 0;  ///< floats
  std::int64_t steps = 0;
  int row_tiles = 2;
  int column_tiles = 2;
  std::int64_t planes = 3;  ///< planes of a number; 3: six products, 2: three products, 1: one product
  bool is_accumulating = false;
};
void tile_product(ProductUnit unit, const TileProduct& work);

/// Stores rows of results: act(result + bias + the value in memory). T is float, or Bf16 with rounding to nearest, ties
/// to even, where numbers below 2^-126 become zero.
template <class T>
struct TileResults {
  const float* c = nullptr;          ///< results to store: rows of 16 floats, 64 bytes apart; null: zeros
  const std::int64_t* at = nullptr;  ///< destination of each row, in elements from `base`; negative: not stored
  std::int64_t rows = 0;
  T* base = nullptr;
  const float* bias = nullptr;  ///< 16 floats that are added to each row; null: none
  bool adds = false;
  bool relu = false;
  bool is_streaming = false;  ///< writes past the caches, for results larger than the caches; not with adds
  /// Pivot, 16 floats; null: no sums. Stored numbers minus the pivot, and the squares of these differences, are added
  /// to 16 sums each, over rows that have a destination.
  const float* pivot = nullptr;
  double* sum = nullptr;
  double* sum_sq = nullptr;
};
template <class T>
void put_results(ProductUnit unit, const TileResults<T>& work);

}  // namespace roentgen::engine::cpu::simd
