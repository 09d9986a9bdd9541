// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/winograd.h"

#include <omp.h>

#include <algorithm>
#include <array>
#include <vector>

#include "engine/cpu/simd/winograd.h"
#include "engine/cpu/team.h"

namespace roentgen::engine::cpu {
namespace {
using simd::kWinogradOut;
using simd::kWinogradPositions;
using simd::TilePlace;

// Transformed values and results of a chunk: beyond this they leave the caches between the phases (1 to 16 MiB were
// tried on 8 geometries; flat from 3 to 6).
constexpr std::int64_t kChunkBytes = std::int64_t{6} << 20;
constexpr std::int64_t kTileGrain = 12;
constexpr int kTaps = 9;
constexpr int kMostBlock = 16;

// The tiles of a plane, and how many of them a chunk takes.
struct Tiling {
  std::int64_t down = 0;
  std::int64_t across = 0;
  std::int64_t count = 0;
  std::int64_t chunk = 0;

  Tiling(const WinogradShape& s, std::int64_t out_height, std::int64_t out_width)
      : down((out_height + kWinogradOut - 1) / kWinogradOut), across((out_width + kWinogradOut - 1) / kWinogradOut) {
    count = s.images * down * across;
    const std::int64_t tile_bytes =
        kWinogradPositions * (s.in_blocks + s.out_blocks) * s.block * static_cast<std::int64_t>(sizeof(float));
    const std::int64_t chunks = std::max<std::int64_t>(1, (count * tile_bytes + kChunkBytes - 1) / kChunkBytes);
    const std::int64_t even = (count + chunks - 1) / chunks;
    chunk = std::min(count, (even + kTileGrain - 1) / kTileGrain * kTileGrain);
  }
};

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

// Transformed weights [position][group of result blocks][in channel][group * block].
struct PositionWeights {
  float* base = nullptr;
  int group = 1;
  std::int64_t groups = 0;
  std::int64_t group_stride = 0;
  std::int64_t stride = 0;

  PositionWeights() = default;
  PositionWeights(std::int64_t in_blocks, std::int64_t out_blocks, int block)
      : group(simd::winograd_group(out_blocks)),
        groups(out_blocks / group),
        group_stride(in_blocks * block * group * block),
        stride(groups * group_stride + kMostBlock) {}
  [[nodiscard]] std::int64_t floats() const { return kWinogradPositions * stride; }
  [[nodiscard]] float* at(std::int64_t in_channel, std::int64_t out_block, int block) const {
    return base + out_block / group * group_stride + in_channel * group * block + out_block % group * block;
  }
};

// Where tile `tile` of channel block `channel_block` lies in a tensor; its first value at (row, column) of the tile's
// outputs, moved by `shift`.
TilePlace place_of(float* tensor, std::int64_t blocks, std::int64_t height, std::int64_t width, const Tiling& tiling,
                   std::int64_t tile, std::int64_t channel_block, std::int64_t shift_down, std::int64_t shift_right,
                   int block) {
  const std::int64_t per_image = tiling.down * tiling.across;
  const std::int64_t image = tile / per_image;
  const std::int64_t within = tile % per_image;
  return {.plane = tensor + (image * blocks + channel_block) * height * width * block,
          .height = height,
          .width = width,
          .row = within / tiling.across * kWinogradOut - shift_down,
          .column = within % tiling.across * kWinogradOut - shift_right};
}

// Calls body(i) for this member's share of [0, count).
template <typename Body>
void for_share(std::int64_t count, const Body& body) {
  const Share share = share_of(count, omp_get_thread_num(), omp_get_num_threads());
  for (std::int64_t i = share.begin; i < share.end; ++i) body(i);
}

std::int64_t weights_offset(std::int64_t out_block, std::int64_t in_block, std::int64_t in_blocks, int block) {
  return (out_block * in_blocks + in_block) * kTaps * block * block;
}

// What all passes share: transformed input values, transformed results (or the gradients in their place), transformed
// weights, one after another in the scratch.
class WinogradPass : public Kernel {
 public:
  WinogradPass(const WinogradShape& shape, const WinogradTensors& tensors)
      : s_(shape),
        tensors_(tensors),
        tiling_(shape, shape.out_height, shape.out_width),
        values_(shape.in_blocks, tiling_.chunk, shape.block),
        results_(shape.out_blocks, tiling_.chunk, shape.block),
        weights_(shape.in_blocks, shape.out_blocks, shape.block) {}
  [[nodiscard]] std::size_t scratch_bytes() const {
    return static_cast<std::size_t>(values_.floats() + results_.floats() + weights_.floats()) * sizeof(float);
  }
  void bind(const Addresses& addresses) override {
    src_ = addresses.f32(tensors_.src);
    dst_ = addresses.f32(tensors_.dst);
    plain_weights_ = addresses.f32(tensors_.weights);
    bias_ = tensors_.bias >= 0 ? addresses.f32(tensors_.bias) : nullptr;
    weights_.base = addresses.f32(tensors_.scratch);
    values_.base = weights_.base + weights_.floats();
    results_.base = values_.base + values_.floats();
  }

 protected:
  void transform_input(std::int64_t first, std::int64_t tile, std::int64_t in_block) const {
    simd::winograd_input(place_of(src_, s_.in_blocks, s_.in_height, s_.in_width, tiling_, first + tile, in_block,
                                  s_.pad_top, s_.pad_left, s_.block),
                         s_.block, values_.at(0, in_block, tile, s_.block), values_.stride);
  }
  [[nodiscard]] TilePlace result_place(std::int64_t tile, std::int64_t out_block) const {
    return place_of(dst_, s_.out_blocks, s_.out_height, s_.out_width, tiling_, tile, out_block, 0, 0, s_.block);
  }

  WinogradShape s_;
  WinogradTensors tensors_;
  Tiling tiling_;
  Positions values_;
  Positions results_;
  PositionWeights weights_;
  float* src_ = nullptr;
  float* dst_ = nullptr;
  float* plain_weights_ = nullptr;
  float* bias_ = nullptr;
};

// Forward; and backward data, which is a forward with the roles of input and output exchanged, turned weights, and what
// the padding leaves.
class Convolution final : public WinogradPass {
 public:
  Convolution(const WinogradShape& shape, const WinogradTensors& tensors, bool is_turned)
      : WinogradPass(shape, tensors), is_turned_(is_turned) {}
  void run() override {
#pragma omp parallel num_threads(s_.threads)
    {
      for_share(s_.out_blocks * s_.in_blocks, [this](std::int64_t i) {
        is_turned_ ? turned_weights(i / s_.in_blocks, i % s_.in_blocks)
                   : straight_weights(i / s_.in_blocks, i % s_.in_blocks);
      });
      for (std::int64_t first = 0; first < tiling_.count; first += tiling_.chunk) {
        const std::int64_t tiles = std::min(tiling_.chunk, tiling_.count - first);
        for_share(s_.in_blocks * tiles, [&](std::int64_t i) { transform_input(first, i % tiles, i / tiles); });
#pragma omp barrier
        for_share(kWinogradPositions * weights_.groups, [&](std::int64_t i) {
          const std::int64_t position = i / weights_.groups;
          const std::int64_t group = i % weights_.groups;
          simd::winograd_product({.values = values_.at(position, 0, 0, s_.block),
                                  .weights = weights_.base + position * weights_.stride + group * weights_.group_stride,
                                  .result = results_.at(position, group * weights_.group, 0, s_.block),
                                  .row_stride = values_.row_stride,
                                  .tiles = tiles,
                                  .in_blocks = s_.in_blocks,
                                  .group = weights_.group,
                                  .block = s_.block});
        });
#pragma omp barrier
        for_share(s_.out_blocks * tiles, [&](std::int64_t i) {
          const std::int64_t out_block = i / tiles;
          const std::int64_t tile = i % tiles;
          simd::winograd_output(results_.at(0, out_block, tile, s_.block), results_.stride, s_.block,
                                bias_ == nullptr ? nullptr : bias_ + out_block * s_.block,
                                result_place(first + tile, out_block));
        });
      }
    }
  }

 private:
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

class WeightsGradient final : public WinogradPass {
 public:
  using WinogradPass::WinogradPass;
  void run() override {
#pragma omp parallel num_threads(s_.threads)
    {
      for (std::int64_t first = 0; first < tiling_.count; first += tiling_.chunk) {
        const std::int64_t tiles = std::min(tiling_.chunk, tiling_.count - first);
        for_share((s_.in_blocks + s_.out_blocks) * tiles,
                  [&](std::int64_t i) { transform(first, i % tiles, i / tiles); });
#pragma omp barrier
        for_share(kWinogradPositions * weights_.groups, [&](std::int64_t i) {
          const std::int64_t position = i / weights_.groups;
          const std::int64_t group = i % weights_.groups;
          simd::winograd_gradient_product(
              {.values = values_.at(position, 0, 0, s_.block),
               .gradients = results_.at(position, group * weights_.group, 0, s_.block),
               .weights = weights_.base + position * weights_.stride + group * weights_.group_stride,
               .row_stride = values_.row_stride,
               .tiles = tiles,
               .in_blocks = s_.in_blocks,
               .group = weights_.group,
               .block = s_.block,
               .is_accumulating = first > 0});
        });
#pragma omp barrier
      }
      for_share(s_.out_blocks * s_.in_blocks, [this](std::int64_t i) { finish(i / s_.in_blocks, i % s_.in_blocks); });
      if (bias_ != nullptr) for_share(s_.out_blocks, [this](std::int64_t i) { sum_bias(i); });
    }
  }

 private:
  void transform(std::int64_t first, std::int64_t tile, std::int64_t channel_block) const {
    if (channel_block < s_.in_blocks) {
      transform_input(first, tile, channel_block);
      return;
    }
    const std::int64_t out_block = channel_block - s_.in_blocks;
    simd::winograd_gradient(result_place(first + tile, out_block), s_.block, results_.at(0, out_block, tile, s_.block),
                            results_.stride);
  }
  void finish(std::int64_t out_block, std::int64_t in_block) const {
    float* taps = plain_weights_ + weights_offset(out_block, in_block, s_.in_blocks, s_.block);
    for (std::int64_t i = 0; i < s_.block; ++i) {
      simd::winograd_weights_gradient(weights_.at(in_block * s_.block + i, out_block, s_.block), weights_.stride,
                                      s_.block, taps + i * s_.block, s_.block * s_.block);
    }
  }
  void sum_bias(std::int64_t out_block) const {
    std::array<double, kMostBlock> sum{};
    const std::int64_t plane = s_.out_height * s_.out_width;
    for (std::int64_t image = 0; image < s_.images; ++image) {
      const float* from = dst_ + (image * s_.out_blocks + out_block) * plane * s_.block;
      for (std::int64_t pixel = 0; pixel < plane; ++pixel) {
        for (int c = 0; c < s_.block; ++c) sum[static_cast<std::size_t>(c)] += from[pixel * s_.block + c];
      }
    }
    for (int c = 0; c < s_.block; ++c) {
      bias_[out_block * s_.block + c] = static_cast<float>(sum[static_cast<std::size_t>(c)]);
    }
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
}  // namespace

std::size_t winograd_forward_scratch(const WinogradShape& shape) {
  return Convolution(shape, {}, false).scratch_bytes();
}
std::size_t winograd_backward_data_scratch(const WinogradShape& shape) {
  return Convolution(mirrored(shape), {}, true).scratch_bytes();
}
std::size_t winograd_backward_weights_scratch(const WinogradShape& shape) {
  return WeightsGradient(shape, {}).scratch_bytes();
}

std::unique_ptr<Kernel> winograd_forward(const WinogradShape& shape, const WinogradTensors& tensors) {
  return std::make_unique<Convolution>(shape, tensors, false);
}
std::unique_ptr<Kernel> winograd_backward_data(const WinogradShape& shape, const WinogradTensors& tensors) {
  WinogradTensors exchanged = tensors;
  std::swap(exchanged.src, exchanged.dst);
  return std::make_unique<Convolution>(mirrored(shape), exchanged, true);
}
std::unique_ptr<Kernel> winograd_backward_weights(const WinogradShape& shape, const WinogradTensors& tensors) {
  return std::make_unique<WeightsGradient>(shape, tensors);
}

}  // namespace roentgen::engine::cpu
