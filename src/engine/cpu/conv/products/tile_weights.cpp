// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Weight gradient on tiles. For every tap, it multiplies the transposed source (in channels x pixels) by the gradient
// of dst (pixels x out channels). The gradient is shifted by the tap's distance. Groups of channels are multiplied one
// panel of pixels at a time, so that the panel stays in the L2 cache.
//
// Tiles load fast only from whole cache lines. A line of the transposed source has 32 pixels of one channel; a line of
// the gradient has a pair of pixels of 16 channels. So taps shift the gradient, by whole pairs. If distances of taps
// are odd, the gradient is packed twice. Pairs of one copy begin with even pixels, those of the other with odd pixels.
#include <omp.h>

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "engine/cpu/conv/channel_sums.h"
#include "engine/cpu/conv/conv_input.h"
#include "engine/cpu/conv/products/product_kernels.h"
#include "engine/cpu/conv/products/tile_grid.h"
#include "engine/cpu/plan/kernel_scratch.h"
#include "engine/cpu/plan/team.h"

namespace roentgen::engine::cpu {
namespace {
using simd::kTile_bytes;
using simd::kTileRows;
using simd::kTileTerms;

constexpr std::int64_t kTile = kTileRows * kTileRows;
constexpr std::int64_t kHalf_bytes = 2;
constexpr std::int64_t kLeastRows = 128, kMostRows = 2048;

// Sizes of the data that is in cache at a time; the fastest ones measured on ResNet-50's layers. `panel_bytes`: packed
// values of a panel, of both sides, in addition to the sums. `most_blocks`: blocks of channels of each side. With more
// blocks, the other side is packed less often. Windows of several taps multiply longer, and their gradient may be
// packed twice.
struct Sizes {
  std::int64_t panel_bytes;
  std::int64_t most_blocks;
};
Sizes sizes_of(std::int64_t taps, std::int64_t planes) {
  if (taps == 1) return {std::int64_t{640} << 10, 32};
  return {std::int64_t{768} << 10, planes == 1 ? 24 : 16};
}

// One of the two multiplied tensors, divided into groups of channel blocks that are packed together.
struct Side {
  std::int64_t blocks = 0;
  std::int64_t groups = 1;
  std::int64_t group = 1;

  Side(std::int64_t blocks_, std::int64_t most) : blocks(blocks_), groups(pieces_of(blocks_, most)) {
    group = round_up(pieces_of(blocks, groups), 2);
    groups = pieces_of(blocks, group);
  }
};

// Range [begin, end) of blocks.
struct Blocks {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// Weight gradient; T is the type of stored values. The left matrix is normally the source, transposed, and transposing
// costs twice as much as packing. So with a single tap, a gradient with fewer channels is on the left instead, and the
// results are transposed at the end.
template <class T>
class TileWeights final : public ConvKernel {
 public:
  TileWeights(const ProductShape& shape, const ConvTensors& tensors)
      : ConvKernel(shape.threads),
        s_(shape),
        tensors_(tensors),
        planes_(planes_of(shape)),
        grid_(TileGrid::forward(shape)),
        input_(tensors.src, shape.in_blocks, kProductBlock, grid_.source_plane(), tensors.prologue),
        gradient_(tensors.dst, shape.out_blocks, kProductBlock, grid_.target_plane()),
        phases_(static_cast<std::int64_t>(grid_.phases().size())),
        taps_(shape.kernel_height * shape.kernel_width),
        is_swapped_(taps_ == 1 && shape.out_blocks < shape.in_blocks),
        left_(is_swapped_ ? shape.out_blocks : shape.in_blocks,
              std::max<std::int64_t>(2, sizes_of(taps_, planes_).most_blocks / phases_)),
        right_(is_swapped_ ? shape.in_blocks : shape.out_blocks, sizes_of(taps_, planes_).most_blocks) {
    lead_ = round_up(grid_.reach(), 2);
    for (const TileGrid::Tap& tap : grid_.targets().front().taps) {
      if ((lead_ - tap.offset) % 2 != 0) copies_ = 2;
    }
    const std::int64_t row_bytes =
        planes_ * kProductBlock * kHalf_bytes * (left_.group * phases_ + right_.group * copies_);
    panel_rows_ =
        std::clamp(sizes_of(taps_, planes_).panel_bytes / row_bytes / kTileTerms * kTileTerms, kLeastRows, kMostRows);
    panels_ = pieces_of(grid_.rows(), panel_rows_);
    // Gives all threads equal work. If there are few groups, they are divided into parts, each with a share of the
    // panels.
    const std::int64_t groups = left_.groups * right_.groups;
    if (groups % s_.threads != 0 && groups < 4 * s_.threads) {
      parts_ = std::min<std::int64_t>(panels_, s_.threads / std::gcd(groups, static_cast<std::int64_t>(s_.threads)));
    }
    place_scratch();
  }

  void bind(const Addresses& addresses) override {
    input_.bind(addresses);
    gradient_.bind(addresses);
    dst_ = addresses.at<T>(tensors_.dst);
    weights_ = addresses.f32(tensors_.weights);
    bias_ = tensors_.bias >= 0 ? addresses.f32(tensors_.bias) : nullptr;
    memory_.bind(addresses, tensors_);
  }

  void run() override {
#pragma omp parallel num_threads(s_.threads)
    {
      const simd::TileSession session(s_.unit);
#pragma omp for schedule(dynamic)
      for (std::int64_t i = 0; i < left_.groups * right_.groups * parts_; ++i) {
        compute(i / parts_ % left_.groups, i / parts_ / left_.groups, i % parts_, omp_get_thread_num());
      }
      const Share blocks = share_of(floats() / kTile, omp_get_thread_num(), omp_get_num_threads());
      for (std::int64_t block = blocks.begin; block < blocks.end; ++block) finish(block * kTile);
      if (bias_ != nullptr) {
        const Share channels = share_of(s_.out_blocks, omp_get_thread_num(), omp_get_num_threads());
        for (std::int64_t block = channels.begin; block < channels.end; ++block) {
          sum_channels(dst_, s_.images, s_.out_blocks, s_.out_height * s_.out_width, static_cast<int>(kProductBlock),
                       block, bias_);
        }
      }
    }
  }

 private:
  [[nodiscard]] std::int64_t floats() const { return s_.out_blocks * s_.in_blocks * taps_ * kTile; }

  void place_scratch() {
    const auto words = [](std::int64_t count) { return count * static_cast<std::int64_t>(sizeof(std::int64_t)); };
    sums_part_ = memory_.add((parts_ - (is_swapped_ ? 0 : 1)) * floats() * static_cast<std::int64_t>(sizeof(float)));
    turned_part_ = memory_.add_own(phases_ * left_.group * turned_block());
    pairs_part_ = memory_.add_own(right_.group * pairs_block());
    sources_part_ = memory_.add_own(words(input_.tables() * phases_ * panel_rows_));
    targets_part_ = memory_.add_own(words(moved_rows()));
    steps_part_ = memory_.add_own(words(panel_rows_ / kTileTerms));
  }
  // Bytes of a row of the left matrix, and of a block in all planes. A row is an odd number of cache lines long, so
  // that 16 rows use different cache sets.
  [[nodiscard]] std::int64_t turned_row() const { return (panel_rows_ / kTileTerms | 1) * simd::kTileRow_bytes; }
  [[nodiscard]] std::int64_t turned_block() const { return planes_ * kTileRows * turned_row(); }
  // Number of row pairs of the right matrix, which begins `lead_` rows before the panel.
  [[nodiscard]] std::int64_t pair_rows() const { return (lead_ + panel_rows_) / 2; }
  // Bytes of the row pairs of one block: of one bf16 part of the numbers (plane), of all planes, and of all copies.
  [[nodiscard]] std::int64_t pairs_plane() const { return (pair_rows() | 1) * simd::kTileRow_bytes; }
  [[nodiscard]] std::int64_t pairs_copy() const { return planes_ * pairs_plane(); }
  [[nodiscard]] std::int64_t pairs_block() const { return copies_ * pairs_copy(); }
  // Number of rows of the right matrix that all its copies together read. The second copy begins and ends one row after
  // the first.
  [[nodiscard]] std::int64_t moved_rows() const { return lead_ + panel_rows_ + copies_ - 1; }

  // Sums of a part. The first part's sums are the weights themselves, unless these are transposed at the end.
  [[nodiscard]] float* sums_of(std::int64_t part) const {
    const std::int64_t slot = is_swapped_ ? part : part - 1;
    return slot < 0 ? weights_ : memory_.at<float>(sums_part_) + slot * floats();
  }
  // Computes one block of weights [in][out] from the sums of all parts.
  void finish(std::int64_t at) const {
    if (!is_swapped_) {
      for (std::int64_t part = 1; part < parts_; ++part) {
        const float* from = sums_of(part) + at;
        for (std::int64_t i = 0; i < kTile; ++i) weights_[at + i] += from[i];
      }
      return;
    }
    for (std::int64_t out = 0; out < kTileRows; ++out) {
      for (std::int64_t in = 0; in < kTileRows; ++in) {
        float sum = 0.0F;
        for (std::int64_t part = 0; part < parts_; ++part) sum += sums_of(part)[at + out * kTileRows + in];
        weights_[at + in * kTileRows + out] = sum;
      }
    }
  }

  void compute(std::int64_t left_group, std::int64_t right_group, std::int64_t part, int thread) const {
    const Blocks left{left_group * left_.group, std::min(left_.blocks, (left_group + 1) * left_.group)};
    const Blocks right{right_group * right_.group, std::min(right_.blocks, (right_group + 1) * right_.group)};
    std::int64_t* steps = memory_.at<std::int64_t>(steps_part_, thread);
    for (std::int64_t i = 0; i < panel_rows_ / kTileTerms; ++i) steps[i] = i * simd::kTileRow_bytes;
    const Share panels = share_of(panels_, static_cast<int>(part), static_cast<int>(parts_));
    for (std::int64_t panel = panels.begin; panel < panels.end; ++panel) {
      pack_panel(panel * panel_rows_, left, right, thread);
      multiply(left, right, sums_of(part), panel > panels.begin, thread);
    }
  }

  void find_rows(std::int64_t first, int thread) const {
    std::int64_t* sources = memory_.at<std::int64_t>(sources_part_, thread);
    for (std::int64_t table = 0; table < input_.tables(); ++table) {
      for (const TileGrid::Phase& phase : grid_.phases()) {
        grid_.find_sources(phase, first, panel_rows_, input_.image_blocks(table), sources);
        sources += panel_rows_;
      }
    }
    // Rows of the gradient between results are zeros, as are rows before the first result.
    std::int64_t* targets = memory_.at<std::int64_t>(targets_part_, thread);
    const std::int64_t before = std::clamp<std::int64_t>(lead_ - first, 0, moved_rows());
    std::fill_n(targets, before, -1);
    grid_.find_targets(grid_.targets().front(), first - lead_ + before, moved_rows() - before, targets + before);
  }
  // Every second row of a block, beginning with `row`. Rows of the source are numbered consecutively over all phases.
  [[nodiscard]] simd::PackSource<T> source_rows(std::int64_t block, std::int64_t row, int thread) const {
    return input_.rows(block, memory_.at<std::int64_t>(sources_part_, thread), phases_ * panel_rows_, row, 2);
  }
  [[nodiscard]] simd::PackSource<T> target_rows(std::int64_t block, std::int64_t row, int thread) const {
    return gradient_.rows(block, memory_.at<std::int64_t>(targets_part_, thread), moved_rows(), row, 2);
  }

  void pack_panel(std::int64_t first, const Blocks& left, const Blocks& right, int thread) const {
    find_rows(first, thread);
    for (std::int64_t phase = 0; phase < phases_; ++phase) {
      for (std::int64_t block = left.begin; block < left.end; ++block) {
        std::byte* to = memory_.at(turned_part_, thread) + (phase * left_.group + block - left.begin) * turned_block();
        for (std::int64_t row = 0; row < panel_rows_; row += kTileTerms) {
          const std::int64_t at = phase * panel_rows_ + row;
          simd::pack_turned(s_.unit, is_swapped_ ? target_rows(block, at, thread) : source_rows(block, at, thread),
                            is_swapped_ ? target_rows(block, at + 1, thread) : source_rows(block, at + 1, thread),
                            to + row * kHalf_bytes, turned_row(), planes_, kTileRows * turned_row());
        }
      }
    }
    for (std::int64_t block = right.begin; block < right.end; ++block) {
      for (std::int64_t copy = 0; copy < copies_; ++copy) {
        simd::pack_pairs(s_.unit, is_swapped_ ? source_rows(block, copy, thread) : target_rows(block, copy, thread),
                         is_swapped_ ? source_rows(block, copy + 1, thread) : target_rows(block, copy + 1, thread),
                         pair_rows(), pairs_of(block - right.begin, copy, thread), planes_, pairs_plane());
      }
    }
  }
  [[nodiscard]] std::byte* pairs_of(std::int64_t block, std::int64_t copy, int thread) const {
    return memory_.at(pairs_part_, thread) + block * pairs_block() + copy * pairs_copy();
  }

  void multiply(const Blocks& left, const Blocks& right, float* sums, bool is_accumulating, int thread) const {
    const std::int64_t next_in = taps_ * kTile;
    const std::int64_t next_out = s_.in_blocks * next_in;
    const std::int64_t next_left = is_swapped_ ? next_out : next_in;
    const std::int64_t next_right = is_swapped_ ? next_in : next_out;
    for (const TileGrid::Tap& tap : grid_.targets().front().taps) {
      // Row of the gradient whose result reads the panel's first row through this tap.
      const std::int64_t moved = lead_ - tap.offset;
      for (std::int64_t r = right.begin; r < right.end; r += 2) {
        for (std::int64_t l = left.begin; l < left.end; l += 2) {
          const std::byte* turned =
              memory_.at(turned_part_, thread) + (tap.phase * left_.group + l - left.begin) * turned_block();
          simd::tile_product(s_.unit,
                             {.a = turned,
                              .a_steps = memory_.at<std::int64_t>(steps_part_, thread),
                              .a_tile = turned_block(),
                              .a_row = turned_row(),
                              .a_plane = kTileRows * turned_row(),
                              .b = pairs_of(r - right.begin, moved % 2, thread) + moved / 2 * simd::kTileRow_bytes,
                              .b_step = kTile_bytes,
                              .b_tile = pairs_block(),
                              .b_plane = pairs_plane(),
                              .c = sums + l * next_left + r * next_right + tap.weights * kTile,
                              .c_row_tile = next_left,
                              .c_column_tile = next_right,
                              .steps = panel_rows_ / kTileTerms,
                              .row_tiles = static_cast<int>(std::min<std::int64_t>(2, left.end - l)),
                              .column_tiles = static_cast<int>(std::min<std::int64_t>(2, right.end - r)),
                              .planes = planes_,
                              .is_accumulating = is_accumulating});
        }
      }
    }
  }

  ProductShape s_;
  ConvTensors tensors_;
  std::int64_t planes_;
  TileGrid grid_;
  ConvInput<T> input_, gradient_;
  std::int64_t phases_, taps_;
  bool is_swapped_;
  Side left_, right_;
  std::int64_t parts_ = 1, panels_ = 0, panel_rows_ = 0;
  std::int64_t lead_ = 0, copies_ = 1;
  KernelScratch::Part sums_part_, turned_part_, pairs_part_, sources_part_, targets_part_, steps_part_;
  T* dst_ = nullptr;
  float* weights_ = nullptr;
  float* bias_ = nullptr;
};

}  // namespace

std::unique_ptr<ConvKernel> tile_weights(const ProductShape& shape, const ConvTensors& tensors) {
  if (shape.dtype == DType::Bf16) return std::make_unique<TileWeights<Bf16>>(shape, tensors);
  return std::make_unique<TileWeights<float>>(shape, tensors);
}

}  // namespace roentgen::engine::cpu
