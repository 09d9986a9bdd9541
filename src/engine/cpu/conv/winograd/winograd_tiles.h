// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tiles of Winograd's convolutions, their order, and the chunks that are computed at a time. Internal to winograd*.cpp.
//
// Tiles of 4 results cover an axis of several taps; where its length is no multiple of 4, some tiles have 3. A tile of
// 3 needs all positions but the last, whose point at infinity only reaches its fourth result. So 14 = 4 + 4 + 3 + 3
// takes 22 products; four tiles of 4 take 24. And 7 = 4 + 3 takes 11; two tiles of 4 take 12.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "engine/cpu/conv/winograd/winograd.h"
#include "engine/cpu/plan/team.h"
#include "engine/cpu/simd/winograd.h"

namespace roentgen::engine::cpu {

/// Tiles along one axis: first those of `out` results, then narrow ones with one result less.
struct TileAxis {
  std::int64_t whole = 0;
  std::int64_t narrow = 0;
  std::int64_t out = 1;

  /// Tiles that cover `length` results; narrow tiles are used only if `can_mix`.
  [[nodiscard]] static TileAxis over(std::int64_t length, const simd::WinogradAxis& axis, bool can_mix) {
    const std::int64_t tiles = (length + axis.out() - 1) / axis.out();
    const std::int64_t narrow = can_mix ? std::min(tiles, tiles * axis.out() - length) : 0;
    return {tiles - narrow, narrow, axis.out()};
  }
  /// First result of tile `index`.
  [[nodiscard]] std::int64_t start(std::int64_t index) const {
    return index * out - std::max<std::int64_t>(0, index - whole);
  }
  /// Number of results of a tile.
  [[nodiscard]] std::int64_t results(std::int64_t index) const { return index < whole ? out : out - 1; }
  [[nodiscard]] std::int64_t tiles() const { return whole + narrow; }
};

/// Tiles [begin, end).
struct TileRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// A tile of the batch: first result and how many there are along each axis.
struct Tile {
  std::int64_t image = 0;
  std::int64_t row = 0;
  std::int64_t column = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

/// Tiles of a batch, in chunks whose transformed values stay in cache. With narrow tiles a chunk is whole images. Its
/// tiles are sorted so that those which need a position are adjacent: low, whole, wide, small below. Nothing depends on
/// the number of threads.
class Tiling {
 public:
  /// Tiles over results of height x width.
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
    // Wide layers: every chunk reads the weights.
    const std::int64_t limit = std::max(kChunkBytes, weights_bytes / 4);
    const std::int64_t wanted = is_wide_ ? 1 : ((bytes + limit - 1) / limit + 3) / 4 * 4;
    chunks_ = std::min(wanted, units_);
  }

  [[nodiscard]] std::int64_t count() const { return count_; }
  /// Number of chunks: a multiple of four where there are as many units (images, or rows of products) and the layer is
  /// not wide. Each sub-team then has one.
  [[nodiscard]] std::int64_t chunks() const { return chunks_; }
  /// Chunk `index`. Chunks have equal size as far as whole images or a product's rows of tiles allow, and so have
  /// groups of neighbours. So sub-teams with as many chunks have as many tiles.
  [[nodiscard]] TileRange chunk(std::int64_t index) const {
    const auto begin = [this](std::int64_t i) { return std::min(count_, units_ * i / chunks_ * unit_); };
    return {begin(index), begin(index + 1)};
  }
  /// Tiles of the largest chunk.
  [[nodiscard]] std::int64_t most() const { return std::min(count_, (units_ + chunks_ - 1) / chunks_ * unit_); }
  /// Whether the transformed weights outweigh the transformed tiles; then all tiles are one chunk.
  [[nodiscard]] bool is_wide() const { return is_wide_; }
  /// Number of parts of a sum over tiles: 1 where a few copies of the weights outweigh the tiles, else 2 or 4.
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

  /// First and last rows of tiles of image `image` in the chunk of `tiles` tiles from `first` on, given by their first
  /// row of results.
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
  // Transformed values and results of a chunk: beyond this they leave the caches between the phases.
  static constexpr std::int64_t kChunkBytes = std::int64_t{1} << 20;
  // Bytes that all threads together keep in the caches.
  static constexpr std::int64_t kMostBytes = std::int64_t{6} << 20;
  static constexpr std::int64_t kTileGrain = 12;

  // Tiles of each kind: narrow rows only, whole, narrow columns only (the rest is narrow both ways).
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
