// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What Winograd's passes share. Internal to winograd*.cpp.
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

/// Channels of the widest block.
constexpr int kMostWinogradBlock = 16;

/// Transformed data [position][channel block][tile][block], positions a little apart from a power of two: streams a
/// power of two apart would all fall into the same few cache lines.
struct Positions {
  float* base = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t stride = 0;
  std::int64_t positions = 0;  ///< of a tile

  Positions() = default;
  Positions(std::int64_t count, std::int64_t blocks, std::int64_t tiles, int block)
      : row_stride(tiles * block), stride(blocks * tiles * block + kMostWinogradBlock), positions(count) {}
  [[nodiscard]] std::int64_t floats() const { return positions * stride; }
  [[nodiscard]] float* at(std::int64_t position, std::int64_t channel_block, std::int64_t tile, int block) const {
    return base + position * stride + channel_block * row_stride + tile * block;
  }
};

/// Transformed weights [slot][position][in channel][block of the group][block]; a slot holds a group of result blocks.
/// Sub-teams that share out groups have as many each, and about as many blocks; groups have four blocks at most and are
/// as few as that allows, of sizes that differ by one at most: 13 are 4 + 3 + 3 + 3. No result depends on it.
struct PositionWeights {
  std::int64_t in_blocks = 0;
  std::int64_t out_blocks = 0;
  int block = 16;
  int crews = 1;                 ///< sub-teams that share out groups
  int groups = 0;                ///< a multiple of crews
  std::int64_t stride = 0;       ///< floats from a position to the next one, in every slot
  std::int64_t slot_stride = 0;  ///< floats

  PositionWeights() = default;
  /// `sharing`: threads that share out groups, or 1.
  PositionWeights(const WinogradShape& s, int sharing)
      : in_blocks(s.in_blocks),
        out_blocks(s.out_blocks),
        block(s.block),
        crews(even_crews(sharing, pieces_of(s.out_blocks, simd::kMostWinogradGroup))),
        groups(crews * static_cast<int>(pieces_of(pieces_of(s.out_blocks, crews), simd::kMostWinogradGroup))),
        stride(s.in_blocks * s.block * pieces_of(s.out_blocks, groups) * s.block + kMostWinogradBlock),
        slot_stride(s.window.positions() * stride) {}
  /// Of a slot for each group.
  [[nodiscard]] std::int64_t floats() const { return groups * slot_stride; }
  /// Result blocks of a group.
  [[nodiscard]] Share blocks_of(std::int64_t group) const {
    const int each = groups / crews;
    const Share crew = share_of(out_blocks, static_cast<int>(group) / each, crews);
    const Share within = share_of(crew.end - crew.begin, static_cast<int>(group) % each, each);
    return {crew.begin + within.begin, crew.begin + within.end};
  }
  /// The group that has a result block.
  [[nodiscard]] std::int64_t group_of(std::int64_t out_block) const {
    const int each = groups / crews, crew = member_with(out_block, out_blocks, crews);
    const Share share = share_of(out_blocks, crew, crews);
    return crew * each + member_with(out_block - share.begin, share.end - share.begin, each);
  }
  /// Where in its slot a pair of blocks lies, in floats: its first channel of weight 0, and from one to the next.
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

/// A chunk of tiles.
struct WinogradChunk {
  std::int64_t index = 0;
  std::int64_t first = 0;
  std::int64_t tiles = 0;
};

/// The tensors of a pass, and tiles of them to transformed values and back. T: what values are stored in.
template <class T>
class WinogradPass : public ConvKernel {
 public:
  /// `shares_groups` says of a tiling whether threads share out the groups of result blocks.
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
  /// Images of a chunk.
  [[nodiscard]] Share images_of(const WinogradChunk& chunk) const {
    const std::int64_t each = tiling_.count() / s_.images;
    return {chunk.first / each, (chunk.first + chunk.tiles - 1) / each + 1};
  }
  /// What transform_input() of a chunk reads of image `image` and block `in_block`.
  [[nodiscard]] simd::CacheLines values_lines(const WinogradChunk& chunk, std::int64_t image,
                                              std::int64_t in_block) const {
    const Share starts = tiling_.row_starts(chunk.first, chunk.tiles, image);
    return lines_of(input_.plane(image, in_block), s_.in_height, s_.in_width, first_row(starts.begin),
                    first_row(starts.end) + s_.window.down.positions());
  }
  /// What lies in dst.
  [[nodiscard]] simd::CacheLines results_lines(const WinogradChunk& chunk, std::int64_t image,
                                               std::int64_t out_block) const {
    const Share starts = tiling_.row_starts(chunk.first, chunk.tiles, image);
    return lines_of(dst_ + (image * s_.out_blocks + out_block) * s_.out_height * s_.out_width * s_.block, s_.out_height,
                    s_.out_width, starts.begin, starts.end + s_.window.down.out());
  }

  /// Where a tile's results lie in block `out_block` of dst.
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
  /// Of a transformed tile.
  [[nodiscard]] std::int64_t positions() const { return s_.window.positions(); }
  /// The taps of a pair of channel blocks.
  [[nodiscard]] float* taps(std::int64_t out_block, std::int64_t in_block, std::int64_t in_blocks) const {
    return plain_weights_ + (out_block * in_blocks + in_block) * s_.window.taps() * s_.block * s_.block;
  }

  /// Room for the ranges of a chunk's values, and of results where `has_results`, for each thread.
  [[nodiscard]] std::int64_t lines_bytes(bool has_results) const {
    const std::int64_t blocks = s_.in_blocks + (has_results ? s_.out_blocks : 0);
    const std::int64_t images = tiling_.most() * s_.images / tiling_.count() + 2;
    return blocks * images * static_cast<std::int64_t>(sizeof(simd::CacheLines));
  }
  /// A sub-team member's share of what transform_input() of a chunk reads, and of what lies in dst where `has_results`,
  /// in the memory at `to`; nothing without a chunk.
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

  /// A chunk's transformed values and results, or the gradients in their place.
  struct Data {
    Positions values;
    Positions results;
  };
  /// In data_floats() floats from `at` on.
  [[nodiscard]] Data data_at(float* at) const {
    Data data{values_, results_};
    data.values.base = at;
    data.results.base = at + values_.floats();
    return data;
  }
  /// A sub-team member's share of a chunk's values.
  void transform_values(const WinogradChunk& here, const Data& data, const SubTeam& crew) const {
    crew.for_share(s_.in_blocks * here.tiles,
                   [&](std::int64_t i) { transform_input(here, i % here.tiles, i / here.tiles, data.values); });
  }
  /// Calls body(result block, input block) for the calling member's share of the pairs of these result blocks.
  template <typename Body>
  void for_pairs(const SubTeam& crew, const Share& out_blocks, const Body& body) const {
    crew.for_share((out_blocks.end - out_blocks.begin) * s_.in_blocks,
                   [&](std::int64_t i) { body(out_blocks.begin + i / s_.in_blocks, i % s_.in_blocks); });
  }
  /// Of a chunk's transformed values and results.
  [[nodiscard]] std::int64_t data_floats() const { return values_.floats() + results_.floats(); }
  /// How many of them may be in memory at a time.
  [[nodiscard]] std::int64_t most_data() const {
    constexpr std::int64_t kMostFloats = std::int64_t{8} << 20;
    return std::max<std::int64_t>(1, kMostFloats / data_floats());
  }
  [[nodiscard]] static constexpr std::int64_t bytes_of(std::int64_t floats) {
    return floats * static_cast<std::int64_t>(sizeof(float));
  }

  /// The first row that tiles read whose results begin with row `result`.
  [[nodiscard]] std::int64_t first_row(std::int64_t result) const { return result - s_.pad_top; }
  /// Rows [begin, end) of a plane, as far as it has them.
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
  Positions values_;   ///< of a chunk
  Positions results_;  ///< or the gradients in their place
  PositionWeights weights_;
  T* dst_ = nullptr;
  float* plain_weights_ = nullptr;
  float* bias_ = nullptr;
};

}  // namespace roentgen::engine::cpu
