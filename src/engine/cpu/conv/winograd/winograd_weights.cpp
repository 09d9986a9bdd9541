// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Weight gradient. If the transformed weights are small compared with the tiles, the tiles are divided into a few lanes
// with separate sums. A lane belongs to one sub-team, and only this sub-team reads the values that it transforms.
// Otherwise sub-teams divide the groups of result channels, and each transforms its own gradients. If memory suffices,
// each also transforms its own copy of all values, because values from another sub-team arrive slowly if caches are
// separate. If memory does not suffice, all threads transform the values together.
#include <omp.h>

#include <algorithm>
#include <bit>

#include "engine/cpu/conv/channel_sums.h"
#include "engine/cpu/conv/winograd/winograd_pass.h"

namespace roentgen::engine::cpu {
namespace {

template <class T>
class WeightsGradient final : public WinogradPass<T> {
  using Base = WinogradPass<T>;

 public:
  WeightsGradient(const WinogradShape& shape, const ConvTensors& tensors)
      : Base(shape, tensors, [](const Tiling& tiling) { return tiling.lanes() == 1; }),
        lanes_(tiling_.lanes()),
        crews_(lanes_ > 1 ? crews_for_lanes(shape.threads) : weights_.crews),
        has_own_values_(lanes_ > 1 || crews_ <= most_data()) {
    if (lanes_ > 1) {
      sums_part_ = memory_.add_of_crews(bytes_of(weights_.floats()), static_cast<int>(lanes_));
      data_part_ = memory_.add_of_crews(bytes_of(data_floats()), crews_);
      lines_part_ = memory_.add_own(lines_bytes(true));
    } else {
      sums_part_ = memory_.add_shared(bytes_of(weights_.slot_stride), slots());
      data_part_ = has_own_values_ ? memory_.add_of_crews(bytes_of(data_floats()), crews_)
                                   : memory_.add(bytes_of(data_floats()));
    }
  }
  void run() override {
#pragma omp parallel num_threads(s_.threads)
    {
      const int crews = lanes_ > 1 ? crews_for_lanes(omp_get_num_threads()) : crews_;
      const SubTeam crew = SubTeam::of(crews), all = SubTeam::of(1);
      lanes_ > 1 ? run_by_lanes(crew, all) : run_by_groups(crew, all);
      if (bias_ != nullptr) all.for_share(s_.out_blocks, [this](std::int64_t i) { sum_bias(i); });
    }
  }

 private:
  using Base::bias_, Base::bytes_of, Base::chunk, Base::data_at, Base::data_floats, Base::dst_, Base::for_pairs,
      Base::lines_bytes, Base::lines_of, Base::memory_, Base::most_data, Base::positions, Base::results_, Base::s_,
      Base::tiling_, Base::transform_values, Base::values_, Base::weights_;
  using typename Base::Data;

  // Number of sub-teams. Each processes the same number of whole lanes, which are groups of tiles with separate sums.
  [[nodiscard]] int crews_for_lanes(int threads) const {
    return static_cast<int>(
        std::min(lanes_, static_cast<std::int64_t>(std::bit_floor(static_cast<unsigned>(threads)))));
  }

  // Runs lane by lane. The chunks of a lane are consecutive and do not depend on the team size.
  void run_by_lanes(const SubTeam& crew, const SubTeam& all) const {
    const Data data = data_at(memory_.template at<float>(data_part_, crew.index()));
    auto* const next_lines = memory_.template at<simd::CacheLines>(lines_part_, omp_get_thread_num());
    const std::int64_t each = (tiling_.chunks() + lanes_ - 1) / lanes_;
    const auto if_there = [&](std::int64_t item, const auto& body) {
      const std::int64_t lane = item / each;
      const Share share = share_of(tiling_.chunks(), static_cast<int>(lane), static_cast<int>(lanes_));
      const std::int64_t index = share.begin + item % each;
      if (index < share.end) body(chunk(index), lane_at(lane), index == share.begin);
    };
    crew.for_items(
        lanes_ * each,
        [&](std::int64_t item) {
          if_there(item, [&](const WinogradChunk& here, float* /*lane*/, bool /*is_first*/) {
            transform_values(here, data, crew);
            transform_gradients(here, data, {0, s_.out_blocks}, crew);
          });
        },
        [&](std::int64_t item) {
          if_there(item, [&](const WinogradChunk& here, float* lane, bool is_first) {
            const std::int64_t products = positions() * weights_.groups;
            // Prefetches the input of this sub-team's next chunk during the products.
            simd::Fetching fetching(
                lines_of(crew.is_last(lanes_ * each, item) ? tiling_.chunks() : here.index + 1, true, crew, next_lines),
                products * here.tiles * s_.in_blocks * s_.block / crew.size());
            crew.for_share(products, [&](std::int64_t i) {
              const std::int64_t group = i % weights_.groups;
              multiply(here, data, lane + group * weights_.slot_stride, i / weights_.groups, group, !is_first,
                       &fetching);
            });
          });
        });
#pragma omp barrier
    for_pairs(all, {0, s_.out_blocks}, [&](std::int64_t out_block, std::int64_t in_block) {
      const std::int64_t group = weights_.group_of(out_block);
      finish(lane_at(0) + group * weights_.slot_stride, group, out_block, in_block);
    });
  }

  void run_by_groups(const SubTeam& crew, const SubTeam& all) const {
    const SubTeam& owner = has_own_values_ ? crew : all;
    const Data data = data_at(memory_.template at<float>(data_part_, has_own_values_ ? crew.index() : 0));
    for (std::int64_t index = 0; index < tiling_.chunks(); ++index) {
      const WinogradChunk here = chunk(index);
      owner.wait();
      transform_values(here, data, owner);
      owner.wait();
      crew.for_items(
          weights_.groups,
          [&](std::int64_t group) { transform_gradients(here, data, weights_.blocks_of(group), crew); },
          [&](std::int64_t group) {
            crew.for_share(positions(), [&](std::int64_t i) {
              multiply(here, data, slot(group, crew), i, group, index > 0, nullptr);
            });
          },
          [&](std::int64_t group) {
            if (index + 1 < tiling_.chunks()) return;
            for_pairs(crew, weights_.blocks_of(group), [&](std::int64_t out_block, std::int64_t in_block) {
              finish(slot(group, crew), group, out_block, in_block);
            });
          });
    }
  }
  // Number of slots for transformed weights: one per group. With a single chunk, each sub-team has one slot, which it
  // reuses for all its groups.
  [[nodiscard]] std::int64_t slots() const { return tiling_.chunks() == 1 ? crews_ : weights_.groups; }
  [[nodiscard]] float* slot(std::int64_t group, const SubTeam& crew) const {
    return memory_.template at<float>(sums_part_, tiling_.chunks() == 1 ? crew.index() : group);
  }
  [[nodiscard]] float* lane_at(std::int64_t lane) const { return memory_.template at<float>(sums_part_, lane); }

  void transform_gradients(const WinogradChunk& here, const Data& data, const Share& out_blocks,
                           const SubTeam& crew) const {
    crew.for_share((out_blocks.end - out_blocks.begin) * here.tiles, [&](std::int64_t i) {
      const std::int64_t out_block = out_blocks.begin + i / here.tiles;
      const std::int64_t index = i % here.tiles;
      simd::winograd_gradient(s_.window, this->result_place(here, index, out_block), s_.block,
                              data.results.at(0, out_block, index, s_.block), results_.stride);
    });
  }
  void multiply(const WinogradChunk& here, const Data& data, float* slot, std::int64_t position, std::int64_t group,
                bool is_accumulating, simd::Fetching* fetching) const {
    const TileRange range = tiling_.needing(position, here.tiles);
    const Share blocks = weights_.blocks_of(group);
    simd::winograd_gradient_product({.values = data.values.at(position, 0, range.begin, s_.block),
                                     .gradients = data.results.at(position, blocks.begin, range.begin, s_.block),
                                     .weights = slot + position * weights_.stride,
                                     .row_stride = values_.row_stride,
                                     .tiles = range.end - range.begin,
                                     .in_blocks = s_.in_blocks,
                                     .group = static_cast<int>(blocks.end - blocks.begin),
                                     .block = s_.block,
                                     .is_accumulating = is_accumulating,
                                     .fetching = fetching});
  }

  // Adds the sums of all lanes for a pair of channel blocks, and transforms the result to kernel taps.
  void finish(const float* slot, std::int64_t group, std::int64_t out_block, std::int64_t in_block) const {
    float* taps = this->taps(out_block, in_block, s_.in_blocks);
    const auto [first, row] = weights_.place(group, out_block, in_block);
    const float* from = slot + first;
    for (std::int64_t c = 0; c < s_.block; ++c, from += row) {
      simd::winograd_weights_gradient(s_.window,
                                      {.base = from,
                                       .position_stride = weights_.stride,
                                       .lanes = lanes_,
                                       .lane_stride = lanes_ > 1 ? lane_at(1) - lane_at(0) : 0},
                                      s_.block, taps + c * s_.block, s_.block * s_.block);
    }
  }
  void sum_bias(std::int64_t out_block) const {
    sum_channels(dst_, s_.images, s_.out_blocks, s_.out_height * s_.out_width, s_.block, out_block, bias_);
  }

  std::int64_t lanes_;
  int crews_;
  bool has_own_values_;
  KernelScratch::Part sums_part_, data_part_, lines_part_;
};

}  // namespace

std::unique_ptr<ConvKernel> winograd_weights(const WinogradShape& shape, const ConvTensors& tensors) {
  if (shape.dtype == DType::Bf16) return std::make_unique<WeightsGradient<Bf16>>(shape, tensors);
  return std::make_unique<WeightsGradient<float>>(shape, tensors);
}

}  // namespace roentgen::engine::cpu
