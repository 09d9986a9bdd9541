// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Products of f32 matrices on the machine's bf16 tiles (Intel AMX), without losing f32's accuracy. Every number is the
// sum of three bf16 numbers (8 + 8 + 8 bits). Six of the nine products are added up in f32; the others are negligible.
// Source: Henry, Tang, Heinecke, "Leveraging the bfloat16 Artificial Intelligence Datatype For Higher-Precision
// Computations", arXiv 1904.06376. A tile does 16 times the multiplications of an AVX-512 unit, so six are still faster
// than one. AVX-512 does twice as many bf16 multiplications as f32 ones, which is enough for bf16 values but not for
// split ones.
//
// A number can also be the sum of two (16 bits), with three products. Each product is then off by at most 2^-15, and by
// 4e-6 in the mean square. A NaN whose upper 17 bits are all ones, as in memory filled with ones, then counts as zero.
//
// A split matrix has two or three planes, `plane` bytes apart: the number rounded to bf16, its remainder rounded to
// bf16, and the rest. A tile is 16 rows of 64 bytes: 16 pairs of bf16 a row. Rows of the left matrix hold 32
// consecutive terms of the sum, two a pair. Row r of the right matrix holds terms 2r and 2r + 1 of 16 columns.
//
// Numbers that are bf16 already are one plane, and need one product.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/cpu/plan/bf16.h"

namespace roentgen::engine::cpu::simd {

/// Numbers, rows and terms of a tile.
constexpr std::int64_t kTileRows = 16, kTileTerms = 32, kTileRow_bytes = 64, kTile_bytes = 1024;

/// Whether this machine has tiles, the system lets this process use them, and oneDNN is not limited below them
/// (DNNL_MAX_CPU_ISA). Asks the system at the first call.
[[nodiscard]] bool has_tiles();

/// Name of the instructions that multiply tiles: "AMX", or "no tiles"; another where they are emulated.
[[nodiscard]] std::string_view tile_instructions();

/// Unit that computes products: the tiles; AVX-512 with its bf16 instructions, in the same layouts; or AVX-512 in f32,
/// without tiles (simd/pointwise.h). Plain loops do the same sums anywhere, hundreds of times slower, for tests.
enum class ProductUnit : std::uint8_t { Plain, Amx, Avx512, Avx512F32 };

/// Whether this machine has the unit, within what oneDNN may use (DNNL_MAX_CPU_ISA).
[[nodiscard]] bool has_unit(ProductUnit unit);

/// Fastest unit here that multiplies bf16 values; nullopt: only plain loops do.
[[nodiscard]] std::optional<ProductUnit> bf16_unit();

/// "AMX", "AVX512" (both of AVX-512's) or "plain", as plans name it.
[[nodiscard]] std::string_view name_of(ProductUnit unit);

/// Sets the calling thread's tiles up while it lives, and has what it streamed in order when it ends. One a thread at a
/// time; nothing for ProductUnit::Plain.
class TileSession {
 public:
  explicit TileSession(ProductUnit unit);
  ~TileSession();
  TileSession(const TileSession&) = delete;
  TileSession& operator=(const TileSession&) = delete;

 private:
  ProductUnit unit_;
};

/// Numbers to split, of float or Bf16: 16 at `base + at[i * at_step]`, zeros where that is negative or `base` is null.
/// With a scale: numbers * scale + shift of 16 channels, and with `relu` max(., 0) of it, as batch norms compute it.
template <class T>
struct PackSource {
  const T* base = nullptr;
  const std::int64_t* at = nullptr;
  std::int64_t at_step = 1;
  const float* scale = nullptr;
  const float* shift = nullptr;
  bool relu = false;
};

/// Rows i < count of 16 pairs (first's number l, second's number l) in each plane, rows 64 bytes apart. Three planes
/// or two, `plane` bytes apart; or one, of numbers rounded to bf16: the only way for Bf16. Both sources of one kind.
template <class T>
void pack_pairs(ProductUnit unit, const PackSource<T>& first, const PackSource<T>& second, std::int64_t count,
                std::byte* to, std::int64_t planes, std::int64_t plane);

/// The same for 16 rows of sources, turned: row l holds pairs (first's number l, second's number l) of
/// all 16, rows `row` bytes apart.
template <class T>
void pack_turned(ProductUnit unit, const PackSource<T>& first, const PackSource<T>& second, std::byte* to,
                 std::int64_t row, std::int64_t planes, std::int64_t plane);

/// Up to 2 x 2 tiles of results, 16 x 16 numbers each, with rows 64 bytes apart:
///   c = (or +=) sum over steps of a * b
struct TileProduct {
  const std::byte* a = nullptr;
  const std::int64_t* a_steps = nullptr;  ///< where each step's terms lie behind `a`, in bytes
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
  std::int64_t planes = 3;  ///< 3: the six products of split matrices; 2: their three; 1: one
  bool is_accumulating = false;
};
void tile_product(ProductUnit unit, const TileProduct& work);

/// Stores rows of results: act(result + bias + the value in memory). T: float, or Bf16, to which they are rounded (the
/// nearest, of two the even one; numbers below 2^-126 become zeros).
template <class T>
struct TileResults {
  const float* c = nullptr;          ///< rows of 16, 64 bytes apart; null: zeros
  const std::int64_t* at = nullptr;  ///< destination of each row, in numbers behind `base`; negative: none
  std::int64_t rows = 0;
  T* base = nullptr;
  const float* bias = nullptr;  ///< 16, or null
  bool adds = false;
  bool relu = false;
  bool is_streaming = false;  ///< writes past the caches, for results larger than they are; not with adds
  /// Pivot, 16 numbers, or null. Stored numbers minus the pivot, and their squares, are added to 16 sums each, over
  /// rows that have a destination.
  const float* pivot = nullptr;
  double* sum = nullptr;
  double* sum_sq = nullptr;
};
template <class T>
void put_results(ProductUnit unit, const TileResults<T>& work);

}  // namespace roentgen::engine::cpu::simd
