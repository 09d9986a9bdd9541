// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Forward and data gradient of convolutions as matrix products on tiles (Intel AMX).
#include <omp.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "core/error.h"
#include "engine/cpu/conv/conv_input.h"
#include "engine/cpu/conv/products/product_kernels.h"
#include "engine/cpu/conv/products/product_results.h"
#include "engine/cpu/conv/products/tile_grid.h"
#include "engine/cpu/plan/kernel_scratch.h"
#include "engine/cpu/plan/team.h"

namespace roentgen::engine::cpu {
namespace {
using simd::kTile_bytes;
using simd::kTileRow_bytes;
using simd::kTileRows;

// With fewer rows, a panel would reuse the weights too little. Then it is better to pack only a part of the channels at
// a time.
constexpr std::int64_t kLeastRows = 512, kMostRows = 4096;

// Forward or data gradient; T is the type of stored values.
template <class T>
class TileConvolution final : public ConvKernel {
 public:
  TileConvolution(const ProductShape& shape, const ConvTensors& tensors, bool is_turned)
      : ConvKernel(shape.threads),
        s_(shape),
        tensors_(tensors),
        is_turned_(is_turned),
        planes_(planes_of(shape)),
        grid_(is_turned ? TileGrid::backward(shape) : TileGrid::forward(shape)),
        input_(is_turned
                   ? ConvInput<T>(tensors.dst, shape.out_blocks, kProductBlock, grid_.source_plane())
                   : ConvInput<T>(tensors.src, shape.in_blocks, kProductBlock, grid_.source_plane(), tensors.prologue)),
        results_(shape, tensors, is_turned, grid_.target_plane()),
        target_blocks_(is_turned ? shape.in_blocks : shape.out_blocks),
        pairs_(pieces_of(input_.blocks(), 2)),
        groups_(pieces_of(target_blocks_, 2)) {
    for (const TileGrid::Target& target : grid_.targets()) {
      first_tap_.push_back(taps_);
      taps_ += static_cast<std::int64_t>(target.taps.size());
      most_taps_ = std::max(most_taps_, static_cast<std::int64_t>(target.taps.size()));
    }
    choose_panel();
    place_scratch();
  }

  void bind(const Addresses& addresses) override {
    input_.bind(addresses);
    results_.bind(addresses);
    weights_ = addresses.f32(tensors_.weights);
    memory_.bind(addresses, tensors_);
  }

  void run() override {
#pragma omp parallel num_threads(s_.threads)
    {
      const simd::TileSession session(s_.unit);
      const Share share = share_of(taps_ * pairs_ * groups_, omp_get_thread_num(), omp_get_num_threads());
      for (std::int64_t i = share.begin; i < share.end; ++i) pack_weights(i);
      results_.open(omp_get_thread_num(), omp_get_num_threads());
#pragma omp barrier
      const Share panels = share_of(panels_, omp_get_thread_num(), omp_get_num_threads());
      for (std::int64_t panel = panels.begin; panel < panels.end; ++panel) {
        compute(panel, omp_get_thread_num());
      }
#pragma omp barrier
      results_.close(omp_get_thread_num(), omp_get_num_threads());
    }
  }

 private:
  // Bytes of packed weights per step: two tiles of columns, in all planes.
  [[nodiscard]] std::int64_t weights_step() const { return 2 * planes_ * kTile_bytes; }

  // Chooses how many rows of the matrix and blocks of channels are packed at a time.
  void choose_panel() {
    const auto phases = std::max<std::int64_t>(1, static_cast<std::int64_t>(grid_.phases().size()));
    const std::int64_t row_bytes = planes_ * kTileRow_bytes * phases;
    const std::int64_t most_pairs = kTilePanel_bytes / (row_bytes * (kLeastRows + grid_.reach()));
    parts_ = pieces_of(pairs_, std::clamp<std::int64_t>(most_pairs, 1, pairs_));
    part_pairs_ = pieces_of(pairs_, parts_);
    const std::int64_t rows = kTilePanel_bytes / (row_bytes * part_pairs_) - grid_.reach();
    panel_rows_ = std::clamp(rows, kLeastRows, kMostRows);
    // Gives every thread the same number of panels, of about the same size.
    const std::int64_t panels = round_up(pieces_of(grid_.rows(), panel_rows_), static_cast<std::int64_t>(s_.threads));
    panel_rows_ = round_up(pieces_of(grid_.rows(), panels), kPanelUnit);
    panels_ = pieces_of(grid_.rows(), panel_rows_);
    // An odd number of rows puts the planes into different cache sets.
    plane_bytes_ = ((panel_rows_ + grid_.reach()) | 1) * kTileRow_bytes;
  }

  void place_scratch() {
    weights_part_ = memory_.add(taps_ * pairs_ * groups_ * weights_step());
    const auto words = [](std::int64_t count) { return count * static_cast<std::int64_t>(sizeof(std::int64_t)); };
    const auto phases = static_cast<std::int64_t>(grid_.phases().size());
    values_part_ = memory_.add_own(phases * part_pairs_ * planes_ * plane_bytes_);
    sources_part_ = memory_.add_own(words(input_.tables() * source_rows()));
    targets_part_ = memory_.add_own(words(panel_rows_));
    steps_part_ = memory_.add_own(words(most_taps_ * part_pairs_));
    const std::int64_t rows = parts_ > 1 ? groups_ * panel_rows_ : kPanelUnit;
    results_part_ = memory_.add_own(2 * rows * kTileRow_bytes);
  }

  // Pairs of source blocks that belong to one of the `parts_` parts.
  struct PairRange {
    std::int64_t first = 0;
    std::int64_t pairs = 0;
  };
  [[nodiscard]] PairRange part(std::int64_t index) const {
    const std::int64_t first = index * part_pairs_;
    return {first, std::min(part_pairs_, pairs_ - first)};
  }
  // Packed weights [tap][pair of source blocks] for a part and a group of target blocks.
  [[nodiscard]] std::byte* weights_of(std::size_t target, const PairRange& part, std::int64_t group) const {
    const auto taps = static_cast<std::int64_t>(grid_.targets()[target].taps.size());
    const std::int64_t before = first_tap_[target] * pairs_ * groups_ + taps * part.first * groups_;
    return memory_.at(weights_part_) + (before + group * taps * part.pairs) * weights_step();
  }

  // Packs the weights of one tap, for one pair of source blocks and one group of target blocks.
  void pack_weights(std::int64_t index) const {
    const std::int64_t group = index % groups_;
    const std::int64_t pair = index / groups_ % pairs_;
    const std::int64_t tap_index = index / groups_ / pairs_;
    std::size_t target = 0;
    while (target + 1 < first_tap_.size() && first_tap_[target + 1] <= tap_index) ++target;
    const std::int64_t tap = tap_index - first_tap_[target];
    const PairRange within = part(pair / part_pairs_);
    std::byte* to = weights_of(target, within, group) + (tap * within.pairs + pair - within.first) * weights_step();
    const std::int64_t number = grid_.targets()[target].taps[static_cast<std::size_t>(tap)].weights;
    for (std::int64_t tile = 0; tile < 2; ++tile, to += kTile_bytes) {
      const std::int64_t target_block = group * 2 + tile;
      if (target_block >= target_blocks_) break;
      const auto source = [&](std::int64_t source_block) {
        return simd::PackSource<float>{
            source_block < input_.blocks() ? block_of_weights(source_block, target_block, number) : nullptr,
            kRowsOfBlock.data()};
      };
      if (is_turned_) {
        simd::pack_turned(s_.unit, source(2 * pair), source(2 * pair + 1), to, kTileRow_bytes, planes_,
                          2 * kTile_bytes);
      } else {
        simd::pack_pairs(s_.unit, source(2 * pair), source(2 * pair + 1), kTileRows, to, planes_, 2 * kTile_bytes);
      }
    }
  }
  [[nodiscard]] const float* block_of_weights(std::int64_t source_block, std::int64_t target_block,
                                              std::int64_t tap) const {
    const std::int64_t out = is_turned_ ? source_block : target_block;
    const std::int64_t in = is_turned_ ? target_block : source_block;
    const std::int64_t taps = s_.kernel_height * s_.kernel_width;
    return weights_ + ((out * s_.in_blocks + in) * taps + tap) * kProductBlock * kProductBlock;
  }

  // Number of source rows of a panel over all phases; each has an entry in the table of offsets.
  [[nodiscard]] std::int64_t source_rows() const {
    return static_cast<std::int64_t>(grid_.phases().size()) * (panel_rows_ + grid_.reach());
  }

  void pack_values(const PairRange& part, int thread) const {
    const std::int64_t rows = panel_rows_ + grid_.reach();
    const std::int64_t* at = memory_.at<std::int64_t>(sources_part_, thread);
    std::byte* to = memory_.at(values_part_, thread);
    for (std::int64_t first = 0; first < source_rows(); first += rows) {
      for (std::int64_t pair = 0; pair < part_pairs_; ++pair, to += planes_ * plane_bytes_) {
        if (pair >= part.pairs) continue;
        const std::int64_t block = (part.first + pair) * 2;
        simd::pack_pairs(s_.unit, input_.rows(block, at, source_rows(), first),
                         input_.rows(block + 1, at, source_rows(), first), rows, to, planes_, plane_bytes_);
      }
    }
  }

  void compute(std::int64_t panel, int thread) const {
    const std::int64_t rows = panel_rows_ + grid_.reach();
    std::int64_t* sources = memory_.at<std::int64_t>(sources_part_, thread);
    for (std::int64_t table = 0; table < input_.tables(); ++table) {
      for (const TileGrid::Phase& phase : grid_.phases()) {
        grid_.find_sources(phase, panel * panel_rows_, rows, input_.image_blocks(table), sources);
        sources += rows;
      }
    }
    if (parts_ == 1) pack_values(part(0), thread);
    for (std::size_t target = 0; target < grid_.targets().size(); ++target) {
      grid_.find_targets(grid_.targets()[target], panel * panel_rows_, panel_rows_,
                         memory_.at<std::int64_t>(targets_part_, thread));
      if (grid_.targets()[target].taps.empty()) {
        results_.put_zeros(memory_.at<std::int64_t>(targets_part_, thread), panel_rows_);
        continue;
      }
      for (std::int64_t index = 0; index < parts_; ++index) {
        if (parts_ > 1) pack_values(part(index), thread);
        multiply(target, index, panel * panel_rows_, thread);
      }
    }
  }

  void multiply(std::size_t target, std::int64_t index, std::int64_t first, int thread) const {
    const PairRange part = this->part(index);
    std::int64_t* steps = memory_.at<std::int64_t>(steps_part_, thread);
    std::int64_t count = 0;
    for (const TileGrid::Tap& tap : grid_.targets()[target].taps) {
      for (std::int64_t pair = 0; pair < part.pairs; ++pair) {
        steps[count++] = (tap.phase * part_pairs_ + pair) * planes_ * plane_bytes_ + tap.offset * kTileRow_bytes;
      }
    }
    const std::int64_t rows = std::min(panel_rows_, grid_.rows() - first);
    for (std::int64_t group = 0; group < groups_; ++group) {
      for (std::int64_t row = 0; row < rows; row += kPanelUnit) {
        float* const sums = results_of(group, row, thread);
        const std::int64_t columns = std::min<std::int64_t>(2, target_blocks_ - group * 2);
        simd::tile_product(s_.unit, {.a = memory_.at(values_part_, thread) + row * kTileRow_bytes,
                                     .a_steps = steps,
                                     .a_tile = kTile_bytes,
                                     .a_plane = plane_bytes_,
                                     .b = weights_of(target, part, group),
                                     .b_step = weights_step(),
                                     .b_tile = kTile_bytes,
                                     .b_plane = 2 * kTile_bytes,
                                     .c = sums,
                                     .c_row_tile = kTileRows * kTileRows,
                                     .c_column_tile = kPanelUnit * kProductBlock,
                                     .steps = count,
                                     .row_tiles = rows - row > kTileRows ? 2 : 1,
                                     .column_tiles = static_cast<int>(columns),
                                     .planes = planes_,
                                     .is_accumulating = index > 0});
        if (index + 1 != parts_) continue;
        for (std::int64_t column = 0; column < columns; ++column) {
          results_.put({.block = group * 2 + column,
                        .c = sums + column * kPanelUnit * kProductBlock,
                        .at = memory_.at<std::int64_t>(targets_part_, thread) + row,
                        .rows = std::min(kPanelUnit, rows - row),
                        .thread = thread});
        }
      }
    }
  }
  // Sums of two adjacent blocks of channels. All rows reuse the same memory. If products are summed in parts, each row
  // of the panel has separate memory.
  [[nodiscard]] float* results_of(std::int64_t group, std::int64_t row, int thread) const {
    const std::int64_t slot = parts_ > 1 ? (group * panel_rows_ + row) / kPanelUnit : 0;
    return memory_.at<float>(results_part_, thread) + slot * 2 * kPanelUnit * kProductBlock;
  }

  static constexpr std::array<std::int64_t, kTileRows> kRowsOfBlock{0,   16,  32,  48,  64,  80,  96,  112,
                                                                    128, 144, 160, 176, 192, 208, 224, 240};

  ProductShape s_;
  ConvTensors tensors_;
  bool is_turned_;
  std::int64_t planes_;
  TileGrid grid_;
  ConvInput<T> input_;
  ProductResults<T> results_;
  std::int64_t target_blocks_, pairs_, groups_;
  std::int64_t taps_ = 0, most_taps_ = 0;
  std::vector<std::int64_t> first_tap_;
  std::int64_t parts_ = 1, part_pairs_ = 1, panels_ = 0, panel_rows_ = 0, plane_bytes_ = 0;
  KernelScratch::Part weights_part_, values_part_, sources_part_, targets_part_, steps_part_, results_part_;
  float* weights_ = nullptr;
};

}  // namespace

std::unique_ptr<ConvKernel> tile_convolution(const ProductShape& shape, const ConvTensors& tensors, bool is_turned) {
  if (shape.dtype == DType::Bf16) return std::make_unique<TileConvolution<Bf16>>(shape, tensors, is_turned);
  return std::make_unique<TileConvolution<float>>(shape, tensors, is_turned);
}

}  // namespace roentgen::engine::cpu
