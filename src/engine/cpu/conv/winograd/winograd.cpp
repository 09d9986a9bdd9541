// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Forward and data gradient. Each sub-team processes its own chunks of tiles in all three phases, so that transformed
// values stay in the cache to which they were written. In wide layers, whose weights are larger than all tiles
// together, sub-teams divide the groups of result channels instead. All threads then transform the values together, and
// each sub-team transforms the weights that it reads.
#include "engine/cpu/conv/winograd/winograd.h"

#include <omp.h>

#include <algorithm>
#include <array>

#include "engine/cpu/conv/winograd/winograd_pass.h"
#include "engine/cpu/simd/claim.h"
#include "engine/cpu/simd/pointwise.h"

namespace roentgen::engine::cpu {
namespace {

// Forward, or data gradient: a forward with input and output exchanged, turned weights and the complementary padding.
template <class T>
class Convolution final : public WinogradPass<T> {
  using Base = WinogradPass<T>;

 public:
  Convolution(const WinogradShape& shape, const ConvTensors& tensors, bool is_turned)
      : Base(shape, tensors, [](const Tiling& tiling) { return tiling.is_wide(); }),
        is_turned_(is_turned),
        crews_(tiling_.is_wide() ? weights_.crews
                                 : even_crews(shape.threads, std::min(tiling_.chunks(), most_data()))) {
    if (tiling_.is_wide()) {
      data_part_ = memory_.add(bytes_of(data_floats()));
      slots_part_ = memory_.add_of_crews(bytes_of(weights_.slot_stride), crews_);
    } else {
      slots_part_ = memory_.add_shared(bytes_of(weights_.slot_stride), weights_.groups);
      data_part_ = memory_.add_of_crews(bytes_of(data_floats()), crews_);
      lines_part_ = memory_.add_own(lines_bytes(false));
    }
  }
  void run() override {
#pragma omp parallel num_threads(s_.threads)
    {
      const SubTeam crew = SubTeam::of(crews_), all = SubTeam::of(1);
      tiling_.is_wide() ? run_by_groups(crew, all) : run_by_chunks(crew, all);
    }
  }

 private:
  using Base::bias_, Base::bytes_of, Base::chunk, Base::data_at, Base::data_floats, Base::for_pairs, Base::lines_bytes,
      Base::lines_of, Base::memory_, Base::most_data, Base::positions, Base::results_, Base::s_, Base::tensors_,
      Base::tiling_, Base::transform_values, Base::values_, Base::weights_;
  using typename Base::Data;

  void run_by_chunks(const SubTeam& crew, const SubTeam& all) const {
    all.for_items(1, [&](std::int64_t) {
      for_pairs(all, {0, s_.out_blocks}, [&](std::int64_t out_block, std::int64_t in_block) {
        const std::int64_t group = weights_.group_of(out_block);
        transform_weights(slot(group), group, out_block, in_block);
      });
    });
    const Data data = data_at(memory_.template at<float>(data_part_, crew.index()));
    auto* const lines = memory_.template at<simd::CacheLines>(lines_part_, omp_get_thread_num());
    crew.for_items(
        tiling_.chunks(), [&](std::int64_t c) { transform_values(chunk(c), data, crew); },
        [&](std::int64_t c) {
          const WinogradChunk here = chunk(c);
          const std::int64_t products = positions() * weights_.groups;
          // Prefetches the input of this sub-team's next chunk during the products.
          simd::Fetching fetching(
              lines_of(crew.is_last(tiling_.chunks(), c) ? tiling_.chunks() : c + 1, false, crew, lines),
              products * here.tiles * s_.in_blocks / crew.size());
          crew.for_share(products, [&](std::int64_t i) {
            multiply(here, data, slot(i % weights_.groups), i / weights_.groups, i % weights_.groups, &fetching);
          });
        },
        [&](std::int64_t c) {
          put_results(chunk(c), data, {0, s_.out_blocks}, crew);
        });
  }
  void run_by_groups(const SubTeam& crew, const SubTeam& all) const {
    const WinogradChunk whole = chunk(0);
    const Data data = data_at(memory_.template at<float>(data_part_));
    all.for_items(1, [&](std::int64_t) { transform_values(whole, data, all); });
    float* const own = slot(crew.index());
    crew.for_items(
        weights_.groups,
        [&](std::int64_t group) {
          for_pairs(crew, weights_.blocks_of(group), [&](std::int64_t out_block, std::int64_t in_block) {
            transform_weights(own, group, out_block, in_block);
          });
        },
        [&](std::int64_t group) {
          crew.for_share(positions(), [&](std::int64_t i) { multiply(whole, data, own, i, group); });
        },
        [&](std::int64_t group) { put_results(whole, data, weights_.blocks_of(group), crew); });
  }

  void multiply(const WinogradChunk& here, const Data& data, const float* slot, std::int64_t position,
                std::int64_t group, simd::Fetching* fetching = nullptr) const {
    const TileRange range = tiling_.needing(position, here.tiles);
    const Share blocks = weights_.blocks_of(group);
    simd::winograd_product({.values = data.values.at(position, 0, range.begin, s_.block),
                            .weights = slot + position * weights_.stride,
                            .result = data.results.at(position, blocks.begin, range.begin, s_.block),
                            .row_stride = values_.row_stride,
                            .tiles = range.end - range.begin,
                            .in_blocks = s_.in_blocks,
                            .group = static_cast<int>(blocks.end - blocks.begin),
                            .block = s_.block,
                            .fetching = fetching});
  }
  void put_results(const WinogradChunk& here, const Data& data, const Share& out_blocks, const SubTeam& crew) const {
    crew.for_share((out_blocks.end - out_blocks.begin) * here.tiles, [&](std::int64_t i) {
      const std::int64_t out_block = out_blocks.begin + i / here.tiles;
      const std::int64_t index = i % here.tiles;
      simd::winograd_output(s_.window, data.results.at(0, out_block, index, s_.block), results_.stride, s_.block,
                            {.bias = bias_ == nullptr ? nullptr : bias_ + out_block * s_.block,
                             .adds = tensors_.epilogue.adds,
                             .relu = tensors_.epilogue.relu},
                            this->result_place(here, index, out_block));
    });
  }

  [[nodiscard]] float* slot(std::int64_t which) const { return memory_.template at<float>(slots_part_, which); }
  void transform_weights(float* slot, std::int64_t group, std::int64_t out_block, std::int64_t in_block) const {
    const float* taps = taps_of(out_block, in_block);
    const bool is_last = in_block + 1 == s_.in_blocks;
    const float* next = taps_of(std::min(out_block + (is_last ? 1 : 0), s_.out_blocks - 1), is_last ? 0 : in_block + 1);
    const std::int64_t square = s_.block * s_.block;
    const auto [first, row] = weights_.place(group, out_block, in_block);
    float* to = slot + first;
    std::array<float, simd::kMostWinogradTaps * kMostWinogradBlock * kMostWinogradBlock> turned;
    if (is_turned_) {
      turn(taps, turned.data());
      taps = turned.data();
    }
    for (std::int64_t i = 0; i < s_.block; ++i, to += row) {
      // Taps are read from scattered lines and written to many positions. The hardware prefetcher covers neither.
      for (int tap = 0; tap < s_.window.taps(); ++tap) __builtin_prefetch(next + tap * square + i * s_.block);
      for (int position = 0; position < s_.window.positions() && i + 1 < s_.block; ++position) {
        simd::claim(to + row + position * weights_.stride);
      }
      simd::winograd_weights(s_.window, taps + i * s_.block, square, s_.block, to, weights_.stride);
    }
  }
  // Taps of a pair of blocks. In the data gradient (`is_turned_`), input and output channels of the stored weights are
  // exchanged.
  [[nodiscard]] const float* taps_of(std::int64_t out_block, std::int64_t in_block) const {
    return is_turned_ ? this->taps(in_block, out_block, s_.out_blocks) : this->taps(out_block, in_block, s_.in_blocks);
  }
  // Turns weights: exchanges the channels and reverses the order of the taps.
  void turn(const float* taps, float* turned) const {
    const std::int64_t square = s_.block * s_.block;
    for (int tap = 0; tap < s_.window.taps(); ++tap) {
      const float* from = taps + (s_.window.taps() - 1 - tap) * square;
      float* into = turned + tap * square;
      if (s_.block == kMostWinogradBlock) {
        simd::turn_square(from, into);
        continue;
      }
      for (int i = 0; i < s_.block; ++i) {
        for (int o = 0; o < s_.block; ++o) into[o * s_.block + i] = from[i * s_.block + o];
      }
    }
  }

  bool is_turned_;
  int crews_;
  KernelScratch::Part slots_part_, data_part_, lines_part_;
};

// Shape of the data gradient as a forward, from the gradient of dst to the gradient of src.
WinogradShape mirrored(const WinogradShape& s) {
  WinogradShape m = s;
  std::swap(m.in_blocks, m.out_blocks);
  std::swap(m.in_height, m.out_height);
  std::swap(m.in_width, m.out_width);
  m.pad_top = s.window.down.taps - 1 - s.pad_top;
  m.pad_left = s.window.across.taps - 1 - s.pad_left;
  return m;
}

std::unique_ptr<ConvKernel> convolution(const WinogradShape& shape, const ConvTensors& tensors, bool is_turned) {
  if (shape.dtype == DType::Bf16) return std::make_unique<Convolution<Bf16>>(shape, tensors, is_turned);
  return std::make_unique<Convolution<float>>(shape, tensors, is_turned);
}
}  // namespace

std::unique_ptr<ConvKernel> winograd_kernel(const WinogradShape& shape, ConvPass pass, const ConvTensors& tensors) {
  if (pass == ConvPass::BackwardWeights) return winograd_weights(shape, tensors);
  if (pass == ConvPass::Forward) return convolution(shape, tensors, false);
  ConvTensors exchanged = tensors;
  std::swap(exchanged.src, exchanged.dst);
  return convolution(mirrored(shape), exchanged, true);
}

}  // namespace roentgen::engine::cpu
