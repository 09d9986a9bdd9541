// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Common base class of Winograd's forward and gradient passes. Internal to winograd*.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "core/error.h"
#include "engine/cpu/conv/conv_input.h"
#include "engine/cpu/conv/winograd/winograd.h"
#include "engine/cpu/conv/winograd/winograd_tiles.h"
#include "engine/cpu/plan/kernel_scratch.h"
#include "engine/cpu/plan/team.h"
#include "engine/cpu/simd/winograd.h"

namespace roentgen::engine::cpu {

/// Number of channels in the widest block.
constexpr int kMostWinogradBlock = 16;

/// Transformed data [position][channel block][tile][block]. Positions are slightly more than a power of two apart;
/// otherwise they would compete for the same few cache sets.
struct Positions {
  float* base = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t stride = 0;
  std::int64_t positions = 0;  ///< number of positions of a transformed tile

  Positions() = default;
  Positions(std::int64_t count, std::int64_t blocks, std::int64_t tiles, int block)
      : row_stride(tiles * block), stride(blocks * tiles * block + kMostWinogradBlock), positions(count) {}
  [[nodiscard]] std::int64_t floats() const { return positions * stride; }
  [[nodiscard]] float* at(std::int64_t position, std::int64_t channel_block, std::int64_t tile, int block) const {
    return base + position * stride + channel_block * row_stride + tile * block;
  }
};

/// Transformed weights [slot][position][in channel][block of the group][block]. A slot holds a group of at most four
/// result blocks. Sub-teams that divide the groups have equal numbers of groups, as few as possible. Group sizes differ
/// by at most one: 13 blocks are 4 + 3 + 3 + 3. Results do not depend on the division.
struct PositionWeights {
  std::int64_t in_blocks = 0;
  std::int64_t out_blocks = 0;
  int block = 16;
  int crews = 1;                 ///< number of sub-teams (crews) that divide the groups
  int groups = 0;                ///< number of groups, a multiple of crews
  std::int64_t stride = 0;       ///< floats from one position to the next, in every slot
  std::int64_t slot_stride = 0;  ///< floats from one slot to the next

  PositionWeights() = default;
  /// @param sharing number of threads that divide the groups; 1: the groups are not divided
  PositionWeights(const WinogradShape& s, int sharing)
      : in_blocks(s.in_blocks),
        out_blocks(s.out_blocks),
        block(s.block),
        crews(even_crews(sharing, pieces_of(s.out_blocks, simd::kMostWinogradGroup))),
        groups(crews * static_cast<int>(pieces_of(pieces_of(s.out_blocks, crews), simd::kMostWinogradGroup))),
        stride(s.in_blocks * s.block * pieces_of(s.out_blocks, groups) * s.block + kMostWinogradBlock),
        slot_stride(s.window.positions() * stride) {}
  /// Number of floats of all slots, one per group.
  [[nodiscard]] std::int64_t floats() const { return groups * slot_stride; }
  /// Range of result blocks that belong to a group.
  [[nodiscard]] Share blocks_of(std::int64_t group) const {
    const int each = groups / crews;
    const Share crew = share_of(out_blocks, static_cast<int>(group) / each, crews);
    const Share within = share_of(crew.end - crew.begin, static_cast<int>(group) % each, each);
    return {crew.begin + within.begin, crew.begin + within.end};
  }
  /// Group that contains a result block.
  [[nodiscard]] std::int64_t group_of(std::int64_t out_block) const {
    const int each = groups / crews, crew = member_with(out_block, out_blocks, crews);
    const Share share = share_of(out_blocks, crew, crews);
    return crew * each + member_with(out_block - share.begin, share.end - share.begin, each);
  }
  /// Offsets of a pair of blocks in its slot, in floats. `first`: of the pair's first channel at position 0. `row`:
  /// from one channel to the next.
  struct Place {
    std::int64_t first = 0;
    std::int64_t row = 0;
  };
  [[nodiscard]] Place place(std::int64_t group, std::int64_t out_block, std::int64_t in_block) const {
    const Share blocks = blocks_of(group);
    const std::int64_t row = (blocks.end - blocks.begin) * block;
    return {.first = in_block * block * row + (out_block - blocks.begin) * block, .row = row};
  }
};

/// Range of tiles that are transformed and multiplied together.
struct WinogradChunk {
  std::int64_t index = 0;
  std::int64_t first = 0;
  std::int64_t tiles = 0;
};

/// Base class of a pass: its tensors, its tiling, and the transform of its input. T is the type of stored values.
template <class T>
class WinogradPass : public ConvKernel {
 public:
  /// @param shares_groups returns, for a tiling, whether threads divide the groups of result blocks
  WinogradPass(const WinogradShape& shape, const ConvTensors& tensors, bool (*shares_groups)(const Tiling&))
      : ConvKernel(shape.threads),
        s_(shape),
        tensors_(tensors),
        input_(tensors.src, shape.in_blocks, shape.block, shape.in_height * shape.in_width * shape.block,
               tensors.prologue),
        tiling_(shape, shape.out_height, shape.out_width),
        values_(shape.window.positions(), shape.in_blocks, tiling_.most(), shape.block),
        results_(shape.window.positions(), shape.out_blocks, tiling_.most(), shape.block),
        weights_(shape, shares_groups(tiling_) ? shape.threads : 1) {
    RG_ASSERT(shape.window.is_known());
  }
  void bind(const Addresses& addresses) override {
    input_.bind(addresses);
    dst_ = addresses.at<T>(tensors_.dst);
    plain_weights_ = addresses.f32(tensors_.weights);
    bias_ = tensors_.bias >= 0 ? addresses.f32(tensors_.bias) : nullptr;
    memory_.bind(addresses, tensors_);
  }

 protected:
  [[nodiscard]] WinogradChunk chunk(std::int64_t index) const {
    const TileRange tiles = tiling_.chunk(index);
    return {.index = index, .first = tiles.begin, .tiles = tiles.end - tiles.begin};
  }
  void transform_input(const WinogradChunk& chunk, std::int64_t index, std::int64_t in_block,
                       const Positions& values) const {
    const Tile tile = tiling_.tile(chunk.first, chunk.tiles, index);
    const typename ConvInput<T>::Place& norm = input_.place(in_block);
    const simd::PlaneTile<const T> from{.plane = input_.plane(tile.image, in_block),
                                        .width = s_.in_width,
                                        .row_end = s_.in_height,
                                        .column_end = s_.in_width,
                                        .row = first_row(tile.row),
                                        .column = tile.column - s_.pad_left};
    simd::winograd_input(s_.window, from, {.scale = norm.scale, .shift = norm.shift, .relu = input_.relu()}, s_.block,
                         values.at(0, in_block, index, s_.block), values.stride);
  }
  /// Images that have tiles in a chunk.
  [[nodiscard]] Share images_of(const WinogradChunk& chunk) const {
    const std::int64_t each = tiling_.count() / s_.images;
    return {chunk.first / each, (chunk.first + chunk.tiles - 1) / each + 1};
  }
  /// Cache lines that transform_input() reads for a chunk in image `image` and block `in_block`.
  [[nodiscard]] simd::CacheLines values_lines(const WinogradChunk& chunk, std::int64_t image,
                                              std::int64_t in_block) const {
    const Share starts = tiling_.row_starts(chunk.first, chunk.tiles, image);
    return lines_of(input_.plane(image, in_block), s_.in_height, s_.in_width, first_row(starts.begin),
                    first_row(starts.end) + s_.window.down.positions());
  }
  /// Cache lines of dst that a chunk covers in image `image` and block `out_block`.
  [[nodiscard]] simd::CacheLines results_lines(const WinogradChunk& chunk, std::int64_t image,
                                               std::int64_t out_block) const {
    const Share starts = tiling_.row_starts(chunk.first, chunk.tiles, image);
    return lines_of(dst_ + (image * s_.out_blocks + out_block) * s_.out_height * s_.out_width * s_.block, s_.out_height,
                    s_.out_width, starts.begin, starts.end + s_.window.down.out());
  }

  /// Address of the results of a tile, in block `out_block` of dst.
  [[nodiscard]] simd::PlaneTile<T> result_place(const WinogradChunk& chunk, std::int64_t index,
                                                std::int64_t out_block) const {
    const Tile tile = tiling_.tile(chunk.first, chunk.tiles, index);
    return {.plane = dst_ + (tile.image * s_.out_blocks + out_block) * s_.out_height * s_.out_width * s_.block,
            .width = s_.out_width,
            .row_end = std::min(s_.out_height, tile.row + tile.rows),
            .column_end = std::min(s_.out_width, tile.column + tile.columns),
            .row = tile.row,
            .column = tile.column};
  }
  /// Number of positions of a transformed tile.
  [[nodiscard]] std::int64_t positions() const { return s_.window.positions(); }
  /// Weights of a pair of channel blocks, not transformed.
  [[nodiscard]] float* taps(std::int64_t out_block, std::int64_t in_block, std::int64_t in_blocks) const {
    return plain_weights_ + (out_block * in_blocks + in_block) * s_.window.taps() * s_.block * s_.block;
  }

  /// Bytes per thread of the memory that lines_of() fills.
  [[nodiscard]] std::int64_t lines_bytes(bool has_results) const {
    const std::int64_t blocks = s_.in_blocks + (has_results ? s_.out_blocks : 0);
    const std::int64_t images = tiling_.most() * s_.images / tiling_.count() + 2;
    return blocks * images * static_cast<std::int64_t>(sizeof(simd::CacheLines));
  }
  /// Cache lines that a chunk reads: its input and, if `has_results`, its part of dst. Returns the calling member's
  /// share, stored at `to`. Returns an empty span if there is no such chunk.
  [[nodiscard]] std::span<const simd::CacheLines> lines_of(std::int64_t index, bool has_results, const SubTeam& crew,
                                                           simd::CacheLines* to) const {
    if (index >= tiling_.chunks()) return {};
    const WinogradChunk next = chunk(index);
    const Share images = images_of(next);
    const std::int64_t blocks = s_.in_blocks + (has_results ? s_.out_blocks : 0);
    std::size_t count = 0;
    crew.for_share((images.end - images.begin) * blocks, [&](std::int64_t i) {
      const std::int64_t image = images.begin + i / blocks, block = i % blocks;
      to[count++] =
          block < s_.in_blocks ? values_lines(next, image, block) : results_lines(next, image, block - s_.in_blocks);
    });
    return {to, count};
  }

  /// Transformed values and results of a chunk. In a weight gradient, `results` are gradients.
  struct Data {
    Positions values;
    Positions results;
  };
  /// Uses the data_floats() floats at `at` as memory of a chunk's data.
  [[nodiscard]] Data data_at(float* at) const {
    Data data{values_, results_};
    data.values.base = at;
    data.results.base = at + values_.floats();
    return data;
  }
  /// Transforms the calling member's share of a chunk's input.
  void transform_values(const WinogradChunk& here, const Data& data, const SubTeam& crew) const {
    crew.for_share(s_.in_blocks * here.tiles,
                   [&](std::int64_t i) { transform_input(here, i % here.tiles, i / here.tiles, data.values); });
  }
  /// Calls body(result block, input block) for the calling member's share of all pairs with these result blocks.
  template <typename Body>
  void for_pairs(const SubTeam& crew, const Share& out_blocks, const Body& body) const {
    crew.for_share((out_blocks.end - out_blocks.begin) * s_.in_blocks,
                   [&](std::int64_t i) { body(out_blocks.begin + i / s_.in_blocks, i % s_.in_blocks); });
  }
  /// Number of floats of a chunk's transformed values and results.
  [[nodiscard]] std::int64_t data_floats() const { return values_.floats() + results_.floats(); }
  /// Largest number of chunks whose data may be in memory at the same time.
  [[nodiscard]] std::int64_t most_data() const {
    constexpr std::int64_t kMostFloats = std::int64_t{8} << 20;
    return std::max<std::int64_t>(1, kMostFloats / data_floats());
  }
  [[nodiscard]] static constexpr std::int64_t bytes_of(std::int64_t floats) {
    return floats * static_cast<std::int64_t>(sizeof(float));
  }

  /// First source row that tiles read whose results begin at row `result`.
  [[nodiscard]] std::int64_t first_row(std::int64_t result) const { return result - s_.pad_top; }
  /// Cache lines of rows [begin, end) of a plane, clipped to the plane.
  [[nodiscard]] simd::CacheLines lines_of(const T* plane, std::int64_t height, std::int64_t width, std::int64_t begin,
                                          std::int64_t end) const {
    begin = std::clamp<std::int64_t>(begin, 0, height);
    end = std::clamp<std::int64_t>(end, begin, height);
    const std::int64_t row_bytes = width * s_.block * static_cast<std::int64_t>(sizeof(T));
    return {plane + begin * width * s_.block, (end - begin) * row_bytes / simd::kLine_bytes};
  }

  WinogradShape s_;
  ConvTensors tensors_;
  ConvInput<T> input_;
  Tiling tiling_;
  Positions values_;   ///< transformed input of a chunk
  Positions results_;  ///< transformed results of a chunk; in a weight gradient, transformed gradients
  PositionWeights weights_;
  T* dst_ = nullptr;
  float* plain_weights_ = nullptr;
  float* bias_ = nullptr;
};

}  // namespace roentgen::engine::cpu
