// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tiles of Winograd's convolutions, their order, and the chunks in which they are processed. Internal to winograd*.cpp.
//
// Along an axis with several taps, tiles have 4 results; if the length is not a multiple of 4, some tiles have 3. A
// tile of 3 needs all positions except the last one: the point at infinity, which only affects the fourth result. So 14
// = 4 + 4 + 3 + 3 takes 22 products, while four tiles of 4 take 24. And 7 = 4 + 3 takes 11, while two tiles of 4 take
// 12.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "engine/cpu/conv/winograd/winograd.h"
#include "engine/cpu/plan/team.h"
#include "engine/cpu/simd/winograd.h"

namespace roentgen::engine::cpu {

/// Tiles along one axis: first `whole` tiles with `out` results, then `narrow` tiles with one result less.
struct TileAxis {
  std::int64_t whole = 0;
  std::int64_t narrow = 0;
  std::int64_t out = 1;

  /// Returns tiles that cover `length` results. Narrow tiles are used only if `can_mix`.
  [[nodiscard]] static TileAxis over(std::int64_t length, const simd::WinogradAxis& axis, bool can_mix) {
    const std::int64_t tiles = (length + axis.out() - 1) / axis.out();
    const std::int64_t narrow = can_mix ? std::min(tiles, tiles * axis.out() - length) : 0;
    return {tiles - narrow, narrow, axis.out()};
  }
  /// Index of the first result of tile `index`.
  [[nodiscard]] std::int64_t start(std::int64_t index) const {
    return index * out - std::max<std::int64_t>(0, index - whole);
  }
  /// Number of results of tile `index`.
  [[nodiscard]] std::int64_t results(std::int64_t index) const { return index < whole ? out : out - 1; }
  [[nodiscard]] std::int64_t tiles() const { return whole + narrow; }
};

/// Range [begin, end) of tiles.
struct TileRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// One tile of the batch: image, first result and number of results along each axis.
struct Tile {
  std::int64_t image = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

/// Tiles of a batch, divided into chunks whose transformed values stay in cache. With narrow tiles, a chunk consists of
/// whole images. Its tiles are then sorted by kind: less height, full size, less width, both. So the tiles that use the
/// same element of the transform are adjacent. The division does not depend on the number of threads.
class Tiling {
 public:
  /// Tiles that cover results of height x width.
  Tiling(const WinogradShape& s, std::int64_t height, std::int64_t width) : window_(s.window) {
    const std::int64_t block_bytes = s.window.positions() * static_cast<std::int64_t>(sizeof(float)) * s.block;
    const std::int64_t tile_bytes = block_bytes * (s.in_blocks + s.out_blocks);
    const std::int64_t weights_bytes = s.window.positions() * static_cast<std::int64_t>(sizeof(float)) * s.block *
                                       s.block * s.in_blocks * s.out_blocks;
    const std::int64_t most = std::max(kMostBytes, weights_bytes / 4);
    const auto cover = [&](bool can_mix) {
      down_ = TileAxis::over(height, window_.down, can_mix);
      across_ = TileAxis::over(width, window_.across, can_mix);
    };
    cover(false);
    cover(per_image() * tile_bytes <= most);
    is_mixed_ = down_.narrow + across_.narrow > 0;
    count_ = s.images * per_image();
    const std::int64_t bytes = count_ * tile_bytes;
    is_wide_ = bytes <= std::min(most, weights_bytes);
    lanes_ = std::bit_floor(static_cast<std::uint64_t>(std::clamp<std::int64_t>(bytes / (4 * weights_bytes), 1, 4)));
    unit_ = is_mixed_ ? per_image() : kTileGrain;
    units_ = (count_ + unit_ - 1) / unit_;
    // In wide layers, every chunk reads all the weights.
    const std::int64_t limit = std::max(kChunkBytes, weights_bytes / 4);
    const std::int64_t wanted = is_wide_ ? 1 : ((bytes + limit - 1) / limit + 3) / 4 * 4;
    chunks_ = std::min(wanted, units_);
  }

  [[nodiscard]] std::int64_t count() const { return count_; }
  /// Number of chunks. It is a multiple of four, so that four sub-teams have the same number. Exceptions are wide
  /// layers, and layers with too few units: images, or rows of products.
  [[nodiscard]] std::int64_t chunks() const { return chunks_; }
  /// Tiles of chunk `index`. Chunks, and groups of neighbouring chunks, are as equal in size as whole images or a
  /// product's rows of tiles allow. So sub-teams with the same number of chunks have about the same number of tiles.
  [[nodiscard]] TileRange chunk(std::int64_t index) const {
    const auto begin = [this](std::int64_t i) { return std::min(count_, units_ * i / chunks_ * unit_); };
    return {begin(index), begin(index + 1)};
  }
  /// Number of tiles of the largest chunk.
  [[nodiscard]] std::int64_t most() const { return std::min(count_, (units_ + chunks_ - 1) / chunks_ * unit_); }
  /// True if the transformed weights are larger than the transformed tiles. All tiles are then one chunk.
  [[nodiscard]] bool is_wide() const { return is_wide_; }
  /// Number of parts in which a sum over tiles is computed. It is 1 if a few copies of the weights are larger than the
  /// tiles, else 2 or 4.
  [[nodiscard]] std::int64_t lanes() const {
    return std::min<std::int64_t>(lanes_, std::bit_floor(static_cast<std::uint64_t>(chunks())));
  }

  /// Tile `index` of the chunk of `tiles` tiles that starts at tile `first`.
  [[nodiscard]] Tile tile(std::int64_t first, std::int64_t tiles, std::int64_t index) const {
    if (!is_mixed_) return place(0, first + index, down_.whole, across_.whole, 0, 0);
    const std::int64_t images = tiles / per_image();
    const std::int64_t image = first / per_image();
    const Sizes sizes = sizes_of(images);
    if (index < sizes.low) return place(image, index, down_.narrow, across_.whole, down_.whole, 0);
    index -= sizes.low;
    if (index < sizes.whole) return place(image, index, down_.whole, across_.whole, 0, 0);
    index -= sizes.whole;
    if (index < sizes.wide) return place(image, index, down_.whole, across_.narrow, 0, across_.whole);
    return place(image, index - sizes.wide, down_.narrow, across_.narrow, down_.whole, across_.whole);
  }

  /// First and last tile rows of image `image` in the chunk of `tiles` tiles from `first` on. Each is given by its
  /// first row of results.
  [[nodiscard]] Share row_starts(std::int64_t first, std::int64_t tiles, std::int64_t image) const {
    const std::int64_t begin = std::max(first - image * per_image(), std::int64_t{0}) / across_.tiles();
    const std::int64_t last = std::min(first + tiles - 1 - image * per_image(), per_image() - 1) / across_.tiles();
    return {down_.start(begin), down_.start(last)};
  }

  /// Tiles that need position `position`, among the `tiles` tiles of a chunk.
  [[nodiscard]] TileRange needing(std::int64_t position, std::int64_t tiles) const {
    if (!is_mixed_) return {0, tiles};
    const Sizes sizes = sizes_of(tiles / per_image());
    const bool is_last_row = position / window_.across.positions() == window_.down.positions() - 1;
    const bool is_last_column = position % window_.across.positions() == window_.across.positions() - 1;
    return {is_last_row ? sizes.low : 0, is_last_column ? sizes.low + sizes.whole
                                         : is_last_row  ? sizes.low + sizes.whole + sizes.wide
                                                        : tiles};
  }

 private:
  // Limit of a chunk's transformed values and results; larger ones leave the caches between the phases.
  static constexpr std::int64_t kChunkBytes = std::int64_t{1} << 20;
  // Bytes that all threads together can keep in the caches.
  static constexpr std::int64_t kMostBytes = std::int64_t{6} << 20;
  static constexpr std::int64_t kTileGrain = 12;

  // Number of tiles of each kind: low has narrow rows, wide has narrow columns. The remaining tiles are narrow in both.
  struct Sizes {
    std::int64_t low = 0;
    std::int64_t whole = 0;
    std::int64_t wide = 0;
  };
  [[nodiscard]] Sizes sizes_of(std::int64_t images) const {
    return {images * down_.narrow * across_.whole, images * down_.whole * across_.whole,
            images * down_.whole * across_.narrow};
  }
  [[nodiscard]] std::int64_t per_image() const { return down_.tiles() * across_.tiles(); }

  // Tile `index` among the rows x columns tiles of its kind in each image from `image` on. The kind's first tile is
  // tile (first_row, first_column) of the image.
  [[nodiscard]] Tile place(std::int64_t image, std::int64_t index, std::int64_t rows, std::int64_t columns,
                           std::int64_t first_row, std::int64_t first_column) const {
    const std::int64_t within = index % (rows * columns);
    const std::int64_t row = first_row + within / columns;
    const std::int64_t column = first_column + within % columns;
    return {.image = image + index / (rows * columns),
            .row = down_.start(row),
            .column = across_.start(column),
            .rows = down_.results(row),
            .columns = across_.results(column)};
  }

  simd::WinogradWindow window_;
  TileAxis down_;
  TileAxis across_;
  bool is_mixed_ = false;
  std::int64_t count_ = 0;
  std::int64_t unit_ = 1;
  std::int64_t units_ = 0;
  std::int64_t chunks_ = 1;
  std::int64_t lanes_ = 1;
  bool is_wide_ = false;
};

}  // namespace roentgen::engine::cpu
