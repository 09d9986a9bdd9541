// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/winograd.h"

#include <omp.h>

#include <algorithm>
#include <array>
#include <vector>

#include "engine/cpu/channel_sums.h"
#include "engine/cpu/conv_input.h"
#include "engine/cpu/simd/winograd.h"
#include "engine/cpu/team.h"
#include "engine/cpu/winograd_tiles.h"

namespace roentgen::engine::cpu {
namespace {
using simd::kWinogradPositions;
using simd::PlaneTile;

constexpr int kTaps = 9;
constexpr int kMostBlock = 16;

// Transformed data [position][channel block][tile][block], positions a little apart from a power of two: 36 streams a
// power of two apart would all fall into the same few cache lines.
struct Positions {
  float* base = nullptr;
  std::int64_t blocks = 0;
  std::int64_t row_stride = 0;
  std::int64_t stride = 0;

  Positions() = default;
  Positions(std::int64_t blocks_, std::int64_t tiles, int block)
      : blocks(blocks_), row_stride(tiles * block), stride(blocks_ * tiles * block + kMostBlock) {}
  [[nodiscard]] std::int64_t floats() const { return kWinogradPositions * stride; }
  [[nodiscard]] float* at(std::int64_t position, std::int64_t channel_block, std::int64_t tile, int block) const {
    return base + position * stride + channel_block * row_stride + tile * block;
  }
};

// Transformed weights [slot][position][in channel][group * block]; a slot holds a group of result blocks.
struct PositionWeights {
  float* base = nullptr;
  int group = 1;
  std::int64_t groups = 0;
  std::int64_t slots = 0;
  std::int64_t stride = 0;
  std::int64_t slot_stride = 0;

  PositionWeights() = default;
  // As many slots as groups, or at most `most_slots`, used in turn.
  PositionWeights(std::int64_t in_blocks, std::int64_t out_blocks, int block, std::int64_t most_slots)
      : group(simd::winograd_group(out_blocks)),
        groups(out_blocks / group),
        slots(std::min(groups, most_slots)),
        stride(in_blocks * block * group * block + kMostBlock),
        slot_stride(kWinogradPositions * stride) {}
  [[nodiscard]] std::int64_t floats() const { return slots * slot_stride; }
  [[nodiscard]] float* slot(std::int64_t which) const { return base + which % slots * slot_stride; }
  [[nodiscard]] float* at(std::int64_t in_channel, std::int64_t out_block, int block) const {
    return slot(out_block / group) + (in_channel * group + out_block % group) * block;
  }
};

// Where a tile's results lie in channel block `channel_block` of a tensor.
template <class T>
PlaneTile<T> results_of(T* tensor, std::int64_t blocks, std::int64_t height, std::int64_t width, const Tile& tile,
                        std::int64_t channel_block, int block) {
  return {.plane = tensor + (tile.image * blocks + channel_block) * height * width * block,
          .width = width,
          .row_end = std::min(height, tile.row + tile.rows),
          .column_end = std::min(width, tile.column + tile.columns),
          .row = tile.row,
          .column = tile.column};
}

// Calls body(i) for this member's share of [0, count).
template <typename Body>
void for_share(std::int64_t count, const Body& body) {
  const Share share = share_of(count, omp_get_thread_num(), omp_get_num_threads());
  for (std::int64_t i = share.begin; i < share.end; ++i) body(i);
}

// Calls body(i) for all of [0, count), whoever of the team is free; no member waits at the end.
template <typename Body>
void for_each_free(std::int64_t count, const Body& body) {
#pragma omp for schedule(dynamic) nowait
  for (std::int64_t i = 0; i < count; ++i) body(i);
}

std::int64_t weights_offset(std::int64_t out_block, std::int64_t in_block, std::int64_t in_blocks, int block) {
  return (out_block * in_blocks + in_block) * kTaps * block * block;
}

// What all passes share: transformed input values, transformed results (or the gradients in their place), transformed
// weights, one after another in the scratch. Where one chunk is all there is, the weights of a wide layer outweigh it:
// they are transformed group by group, two groups at a time in the caches, instead of all in memory.
// T: what values are stored in.
template <class T>
class WinogradPass : public Kernel {
 public:
  WinogradPass(const WinogradShape& shape, const ConvTensors& tensors)
      : s_(shape),
        tensors_(tensors),
        input_(tensors.src, shape.in_blocks, shape.block, shape.in_height * shape.in_width * shape.block,
               tensors.input),
        tiling_(shape, shape.out_height, shape.out_width),
        values_(shape.in_blocks, tiling_.chunk(), shape.block),
        results_(shape.out_blocks, tiling_.chunk(), shape.block),
        is_by_group_(tiling_.count() <= tiling_.chunk()),
        weights_(shape.in_blocks, shape.out_blocks, shape.block, is_by_group_ ? 2 : shape.out_blocks) {}
  [[nodiscard]] std::size_t scratch_bytes() const {
    return static_cast<std::size_t>(values_.floats() + results_.floats() + weights_.floats()) * sizeof(float);
  }
  void bind(const Addresses& addresses) override {
    input_.bind(addresses);
    dst_ = addresses.at<T>(tensors_.dst);
    plain_weights_ = addresses.f32(tensors_.weights);
    bias_ = tensors_.bias >= 0 ? addresses.f32(tensors_.bias) : nullptr;
    weights_.base = addresses.f32(tensors_.scratch);
    values_.base = weights_.base + weights_.floats();
    results_.base = values_.base + values_.floats();
  }

 protected:
  struct Chunk {
    std::int64_t first = 0;
    std::int64_t tiles = 0;
  };
  template <typename Body>
  void for_chunks(const Body& body) const {
    for (std::int64_t first = 0; first < tiling_.count(); first += tiling_.chunk()) {
      body(Chunk{first, std::min(tiling_.chunk(), tiling_.count() - first)});
    }
  }
  void transform_input(const Chunk& chunk, std::int64_t index, std::int64_t in_block) const {
    const Tile tile = tiling_.tile(chunk.first, chunk.tiles, index);
    const typename ConvInput<T>::Place& norm = input_.place(in_block);
    const PlaneTile<const T> from{.plane = input_.plane(tile.image, in_block),
                                  .width = s_.in_width,
                                  .row_end = s_.in_height,
                                  .column_end = s_.in_width,
                                  .row = tile.row - s_.pad_top,
                                  .column = tile.column - s_.pad_left};
    simd::winograd_input(from, {.scale = norm.scale, .shift = norm.shift, .relu = input_.relu()}, s_.block,
                         values_.at(0, in_block, index, s_.block), values_.stride);
  }
  [[nodiscard]] PlaneTile<T> result_place(const Chunk& chunk, std::int64_t index, std::int64_t out_block) const {
    return results_of(dst_, s_.out_blocks, s_.out_height, s_.out_width, tiling_.tile(chunk.first, chunk.tiles, index),
                      out_block, s_.block);
  }

  WinogradShape s_;
  ConvTensors tensors_;
  ConvInput<T> input_;
  Tiling tiling_;
  Positions values_;
  Positions results_;
  bool is_by_group_;
  PositionWeights weights_;
  T* dst_ = nullptr;
  float* plain_weights_ = nullptr;
  float* bias_ = nullptr;
};

// Forward; and backward data, which is a forward with the roles of input and output exchanged, turned weights, and what
// the padding leaves.
template <class T>
class Convolution final : public WinogradPass<T> {
  using Base = WinogradPass<T>;
  using typename Base::Chunk;

 public:
  Convolution(const WinogradShape& shape, const ConvTensors& tensors, bool is_turned)
      : Base(shape, tensors), is_turned_(is_turned) {}
  void run() override {
#pragma omp parallel num_threads(s_.threads)
    {
      if (!is_by_group_) {
        for (std::int64_t group = 0; group < weights_.groups; ++group) transform_weights(group);
      }
      for_chunks([this](const Chunk& chunk) {
        for_share(s_.in_blocks * chunk.tiles,
                  [&](std::int64_t i) { transform_input(chunk, i % chunk.tiles, i / chunk.tiles); });
        if (is_by_group_) {
          for (std::int64_t group = 0; group < weights_.groups; ++group) {
            transform_weights(group);
#pragma omp barrier
            for_each_free(kWinogradPositions, [&](std::int64_t i) { multiply(chunk, i, group); });
          }
        } else {
#pragma omp barrier
          for_each_free(kWinogradPositions * weights_.groups,
                        [&](std::int64_t i) { multiply(chunk, i / weights_.groups, i % weights_.groups); });
        }
#pragma omp barrier
        for_share(s_.out_blocks * chunk.tiles, [&](std::int64_t i) {
          const std::int64_t out_block = i / chunk.tiles;
          const std::int64_t index = i % chunk.tiles;
          simd::winograd_output(results_.at(0, out_block, index, s_.block), results_.stride, s_.block,
                                {.bias = bias_ == nullptr ? nullptr : bias_ + out_block * s_.block,
                                 .adds = tensors_.adds,
                                 .relu = tensors_.relu},
                                result_place(chunk, index, out_block));
        });
      });
    }
  }

 private:
  using Base::bias_;
  using Base::for_chunks;
  using Base::is_by_group_;
  using Base::plain_weights_;
  using Base::result_place;
  using Base::results_;
  using Base::s_;
  using Base::tensors_;
  using Base::tiling_;
  using Base::transform_input;
  using Base::values_;
  using Base::weights_;

  void multiply(const Chunk& chunk, std::int64_t position, std::int64_t group) const {
    const TileRange range = tiling_.needing(position, chunk.tiles);
    simd::winograd_product({.values = values_.at(position, 0, range.begin, s_.block),
                            .weights = weights_.slot(group) + position * weights_.stride,
                            .result = results_.at(position, group * weights_.group, range.begin, s_.block),
                            .row_stride = values_.row_stride,
                            .tiles = range.end - range.begin,
                            .in_blocks = s_.in_blocks,
                            .group = weights_.group,
                            .block = s_.block});
  }
  // The team's share of it.
  void transform_weights(std::int64_t group) const {
    for_share(weights_.group * s_.in_blocks, [&](std::int64_t i) {
      const std::int64_t out_block = group * weights_.group + i / s_.in_blocks;
      is_turned_ ? turned_weights(out_block, i % s_.in_blocks) : straight_weights(out_block, i % s_.in_blocks);
    });
  }
  void straight_weights(std::int64_t out_block, std::int64_t in_block) const {
    const float* taps = plain_weights_ + weights_offset(out_block, in_block, s_.in_blocks, s_.block);
    for (std::int64_t i = 0; i < s_.block; ++i) {
      simd::winograd_weights(taps + i * s_.block, s_.block * s_.block, s_.block,
                             weights_.at(in_block * s_.block + i, out_block, s_.block), weights_.stride);
    }
  }
  // The stored weights have the roles of the channels exchanged; the taps run backwards.
  void turned_weights(std::int64_t out_block, std::int64_t in_block) const {
    const std::int64_t square = s_.block * s_.block;
    const float* taps = plain_weights_ + weights_offset(in_block, out_block, s_.out_blocks, s_.block);
    std::array<float, kTaps * kMostBlock * kMostBlock> turned;
    for (int tap = 0; tap < kTaps; ++tap) {
      const float* from = taps + (kTaps - 1 - tap) * square;
      float* to = turned.data() + tap * square;
      for (int i = 0; i < s_.block; ++i) {
        for (int o = 0; o < s_.block; ++o) to[o * s_.block + i] = from[i * s_.block + o];
      }
    }
    for (std::int64_t i = 0; i < s_.block; ++i) {
      simd::winograd_weights(turned.data() + i * s_.block, square, s_.block,
                             weights_.at(in_block * s_.block + i, out_block, s_.block), weights_.stride);
    }
  }

  bool is_turned_;
};

template <class T>
class WeightsGradient final : public WinogradPass<T> {
  using Base = WinogradPass<T>;
  using typename Base::Chunk;

 public:
  using Base::Base;
  void run() override {
#pragma omp parallel num_threads(s_.threads)
    {
      for_chunks([this](const Chunk& chunk) {
        for_share((s_.in_blocks + s_.out_blocks) * chunk.tiles,
                  [&](std::int64_t i) { transform(chunk, i % chunk.tiles, i / chunk.tiles); });
#pragma omp barrier
        if (is_by_group_) {
          for (std::int64_t group = 0; group < weights_.groups; ++group) {
            for_each_free(kWinogradPositions, [&](std::int64_t i) { multiply(chunk, i, group); });
#pragma omp barrier
            finish(group);
          }
        } else {
          for_each_free(kWinogradPositions * weights_.groups,
                        [&](std::int64_t i) { multiply(chunk, i / weights_.groups, i % weights_.groups); });
#pragma omp barrier
        }
      });
      if (!is_by_group_) {
        for (std::int64_t group = 0; group < weights_.groups; ++group) finish(group);
      }
      if (bias_ != nullptr) for_share(s_.out_blocks, [this](std::int64_t i) { sum_bias(i); });
    }
  }

 private:
  using Base::bias_;
  using Base::dst_;
  using Base::for_chunks;
  using Base::is_by_group_;
  using Base::plain_weights_;
  using Base::result_place;
  using Base::results_;
  using Base::s_;
  using Base::tiling_;
  using Base::transform_input;
  using Base::values_;
  using Base::weights_;

  void transform(const Chunk& chunk, std::int64_t index, std::int64_t channel_block) const {
    if (channel_block < s_.in_blocks) {
      transform_input(chunk, index, channel_block);
      return;
    }
    const std::int64_t out_block = channel_block - s_.in_blocks;
    simd::winograd_gradient(result_place(chunk, index, out_block), s_.block, results_.at(0, out_block, index, s_.block),
                            results_.stride);
  }
  void multiply(const Chunk& chunk, std::int64_t position, std::int64_t group) const {
    const TileRange range = tiling_.needing(position, chunk.tiles);
    simd::winograd_gradient_product({.values = values_.at(position, 0, range.begin, s_.block),
                                     .gradients = results_.at(position, group * weights_.group, range.begin, s_.block),
                                     .weights = weights_.slot(group) + position * weights_.stride,
                                     .row_stride = values_.row_stride,
                                     .tiles = range.end - range.begin,
                                     .in_blocks = s_.in_blocks,
                                     .group = weights_.group,
                                     .block = s_.block,
                                     .is_accumulating = chunk.first > 0});
  }
  // The team's share of a group's weights.
  void finish(std::int64_t group) const {
    for_share(weights_.group * s_.in_blocks, [&](std::int64_t i) {
      const std::int64_t out_block = group * weights_.group + i / s_.in_blocks;
      const std::int64_t in_block = i % s_.in_blocks;
      float* taps = plain_weights_ + weights_offset(out_block, in_block, s_.in_blocks, s_.block);
      for (std::int64_t c = 0; c < s_.block; ++c) {
        simd::winograd_weights_gradient(weights_.at(in_block * s_.block + c, out_block, s_.block), weights_.stride,
                                        s_.block, taps + c * s_.block, s_.block * s_.block);
      }
    });
  }
  void sum_bias(std::int64_t out_block) const {
    sum_channels(dst_, s_.images, s_.out_blocks, s_.out_height * s_.out_width, s_.block, out_block, bias_);
  }
};

// Backward data as a forward from the gradient of dst to that of src.
WinogradShape mirrored(const WinogradShape& s) {
  WinogradShape m = s;
  std::swap(m.in_blocks, m.out_blocks);
  std::swap(m.in_height, m.out_height);
  std::swap(m.in_width, m.out_width);
  m.pad_top = 2 - s.pad_top;
  m.pad_left = 2 - s.pad_left;
  return m;
}

// The same for all passes, and f32 whatever values are stored in.
std::size_t scratch_of(const WinogradShape& shape) { return Convolution<float>(shape, {}, false).scratch_bytes(); }

std::unique_ptr<Kernel> convolution(const WinogradShape& shape, const ConvTensors& tensors, bool is_turned) {
  if (shape.dtype == DType::Bf16) return std::make_unique<Convolution<Bf16>>(shape, tensors, is_turned);
  return std::make_unique<Convolution<float>>(shape, tensors, is_turned);
}
}  // namespace

std::size_t winograd_forward_scratch(const WinogradShape& shape) { return scratch_of(shape); }
std::size_t winograd_backward_data_scratch(const WinogradShape& shape) { return scratch_of(mirrored(shape)); }
std::size_t winograd_backward_weights_scratch(const WinogradShape& shape) { return scratch_of(shape); }

std::unique_ptr<Kernel> winograd_forward(const WinogradShape& shape, const ConvTensors& tensors) {
  return convolution(shape, tensors, false);
}
std::unique_ptr<Kernel> winograd_backward_data(const WinogradShape& shape, const ConvTensors& tensors) {
  ConvTensors exchanged = tensors;
  std::swap(exchanged.src, exchanged.dst);
  return convolution(mirrored(shape), exchanged, true);
}
std::unique_ptr<Kernel> winograd_backward_weights(const WinogradShape& shape, const ConvTensors& tensors) {
  if (shape.dtype == DType::Bf16) return std::make_unique<WeightsGradient<Bf16>>(shape, tensors);
  return std::make_unique<WeightsGradient<float>>(shape, tensors);
}

}  // namespace roentgen::engine::cpu
