// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Forward and data gradient of 1x1 windows in f32. A panel of pixels that fits into the L2 cache is multiplied by two
// blocks of result channels at a time. The panel is read in place or, if it is normalised, from a copy.
#include <omp.h>

#include <algorithm>
#include <array>
#include <span>

#include "core/error.h"
#include "engine/cpu/conv/conv_input.h"
#include "engine/cpu/conv/products/product_kernels.h"
#include "engine/cpu/conv/products/product_results.h"
#include "engine/cpu/plan/kernel_scratch.h"
#include "engine/cpu/plan/team.h"
#include "engine/cpu/simd/pointwise.h"

namespace roentgen::engine::cpu {
namespace {
constexpr std::int64_t kSquare = kProductBlock * kProductBlock;
constexpr std::int64_t kFloat_bytes = sizeof(float);
// Bytes of panels that stay in the L2 cache while weights stream through it.
constexpr std::int64_t kPanels_bytes = std::int64_t{576} << 10;
constexpr std::int64_t kLeastRows = 28, kMostRows = 1024;

class RowConvolution final : public ConvKernel {
 public:
  RowConvolution(const ProductShape& shape, const ConvTensors& tensors, bool is_turned)
      : ConvKernel(shape.threads),
        s_(shape),
        tensors_(tensors),
        is_turned_(is_turned),
        pixels_(shape.in_height * shape.in_width),
        plane_(pixels_ * kProductBlock),
        input_(is_turned ? ConvInput<float>(tensors.dst, shape.out_blocks, kProductBlock, plane_)
                         : ConvInput<float>(tensors.src, shape.in_blocks, kProductBlock, plane_, tensors.prologue)),
        results_(s_, tensors, is_turned, plane_),
        is_copied_(!is_turned && !tensors.prologue.pieces.empty()),
        target_blocks_(is_turned ? shape.in_blocks : shape.out_blocks) {
    RG_ASSERT(is_pointwise(shape));
    const std::int64_t rows = shape.images * pixels_;
    const std::int64_t row_bytes = input_.blocks() * kProductBlock * kFloat_bytes;
    // The panel leaves room in the cache for its copy and for the prefetched source of the next panel. Every thread has
    // the same number of panels, of about the same size.
    const std::int64_t most = std::clamp(kPanels_bytes / 2 / row_bytes, kLeastRows, kMostRows);
    panels_ = round_up(pieces_of(rows, most), static_cast<std::int64_t>(shape.threads));
    panel_rows_ = pieces_of(rows, panels_);
    panels_ = pieces_of(rows, panel_rows_);
    weights_part_ = memory_.add(is_turned ? target_blocks_ * input_.blocks() * kSquare * kFloat_bytes : 0);
    // An odd number of rows separates blocks by an odd number of cache lines, so that they use different cache sets.
    copy_rows_ = panel_rows_ | 1;
    copy_part_ = memory_.add_own(is_copied_ ? input_.blocks() * copy_rows_ * kProductBlock * kFloat_bytes : 0);
    const auto words = [](std::int64_t count) { return count * static_cast<std::int64_t>(sizeof(std::int64_t)); };
    sources_part_ = memory_.add_own(words(input_.tables() * panel_rows_));
    targets_part_ = memory_.add_own(words(panel_rows_));
    const std::int64_t runs = panel_rows_ / pixels_ + 2;
    lines_part_ = memory_.add_own(input_.blocks() * runs * static_cast<std::int64_t>(sizeof(simd::CacheLines)));
    sums_part_ = memory_.add_own(simd::kMostColumns * kPanelUnit * kProductBlock * kFloat_bytes);
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
      const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
      if (is_turned_) {
        const Share squares = share_of(target_blocks_ * input_.blocks(), thread, threads);
        for (std::int64_t i = squares.begin; i < squares.end; ++i) turn_weights(i);
      }
      results_.open(thread, threads);
#pragma omp barrier
      const Share panels = share_of(panels_, thread, threads);
      for (std::int64_t panel = panels.begin; panel < panels.end; ++panel) {
        compute(panel, panel + 1 < panels.end, thread);
      }
#pragma omp barrier
      results_.close(thread, threads);
    }
  }

 private:
  // Weights as [target block][source block][source][target], in the order of a forward pass.
  [[nodiscard]] const float* weights_of(std::int64_t target_block) const {
    const float* first = is_turned_ ? memory_.at<float>(weights_part_) : weights_;
    return first + target_block * input_.blocks() * kSquare;
  }
  void turn_weights(std::int64_t index) const {
    const std::int64_t target = index / input_.blocks(), source = index % input_.blocks();
    simd::turn_square(weights_ + (source * target_blocks_ + target) * kSquare,
                      memory_.at<float>(weights_part_) + index * kSquare);
  }

  // Consecutive rows within one image.
  struct Run {
    std::int64_t image = 0;
    std::int64_t pixel = 0;
    std::int64_t rows = 0;
    std::int64_t at = 0;  // first row, counted in the panel
  };
  template <typename Body>
  void for_runs(std::int64_t first, std::int64_t rows, const Body& body) const {
    for (std::int64_t at = 0; at < rows;) {
      const std::int64_t image = (first + at) / pixels_, pixel = (first + at) % pixels_;
      const std::int64_t here = std::min(rows - at, pixels_ - pixel);
      body(Run{.image = image, .pixel = pixel, .rows = here, .at = at});
      at += here;
    }
  }
  // Writes the offsets of rows [first, first + rows) to `at`, in block 0 of a tensor with `image_blocks` blocks per
  // image.
  void find(std::int64_t first, std::int64_t rows, std::int64_t image_blocks, std::int64_t* at) const {
    for_runs(first, rows, [&](const Run& run) {
      const std::int64_t begin = run.image * image_blocks * plane_ + run.pixel * kProductBlock;
      for (std::int64_t i = 0; i < run.rows; ++i) at[run.at + i] = begin + i * kProductBlock;
    });
  }

  // Computes a panel. If `has_next`, it also prefetches the source of the next panel.
  void compute(std::int64_t panel, bool has_next, int thread) const {
    const std::int64_t first = panel * panel_rows_;
    const std::int64_t rows = std::min(panel_rows_, s_.images * pixels_ - first);
    simd::Fetching ahead(has_next ? next_lines(first + rows, thread) : std::span<const simd::CacheLines>(),
                         rows * input_.blocks() * pieces_of(target_blocks_, simd::kMostColumns));
    if (is_copied_) copy(first, rows, thread);
    const bool is_direct = results_.has_target();
    if (!is_direct) find(first, rows, target_blocks_, memory_.at<std::int64_t>(targets_part_, thread));
    for (std::int64_t block = 0; block < target_blocks_; block += simd::kMostColumns) {
      const int columns = static_cast<int>(std::min<std::int64_t>(simd::kMostColumns, target_blocks_ - block));
      for_runs(first, rows, [&](const Run& run) {
        simd::RowProduct product = product_of(run, block, thread);
        product.columns = columns;
        product.ahead = &ahead;
        if (is_direct) {
          results_.set_target(product, block, run.image * target_blocks_ * plane_ + run.pixel * kProductBlock, thread);
          return simd::row_product(product);
        }
        for (std::int64_t begin = 0; begin < run.rows; begin += kPanelUnit) {
          product.rows = std::min(run.rows - begin, kPanelUnit);
          put_some(product, {.image = run.image, .pixel = run.pixel + begin, .at = run.at + begin}, block, thread);
          product.a += product.rows * kProductBlock;
        }
      });
    }
  }
  // Cache lines of the source of the panel that begins at row `first`, block by block, for prefetching. Empty if panels
  // are read in place.
  [[nodiscard]] std::span<const simd::CacheLines> next_lines(std::int64_t first, int thread) const {
    auto* const lines = memory_.at<simd::CacheLines>(lines_part_, thread);
    const std::int64_t rows = std::min(panel_rows_, s_.images * pixels_ - first);
    std::size_t count = 0;
    for (std::int64_t block = 0; is_copied_ && block < input_.blocks(); ++block) {
      for_runs(first, rows, [&](const Run& run) {
        lines[count++] = {input_.plane(run.image, block) + run.pixel * kProductBlock, run.rows};
      });
    }
    return {lines, count};
  }
  void copy(std::int64_t first, std::int64_t rows, int thread) const {
    std::int64_t* sources = memory_.at<std::int64_t>(sources_part_, thread);
    for (std::int64_t table = 0; table < input_.tables(); ++table) {
      find(first, rows, input_.image_blocks(table), sources + table * panel_rows_);
    }
    float* to = memory_.at<float>(copy_part_, thread);
    for (std::int64_t block = 0; block < input_.blocks(); ++block, to += copy_rows_ * kProductBlock) {
      simd::normalise_rows(input_.rows(block, sources, panel_rows_, 0), rows, to);
    }
  }
  [[nodiscard]] simd::RowProduct product_of(const Run& run, std::int64_t block, int thread) const {
    simd::RowProduct product{
        .b = weights_of(block), .b_column = input_.blocks() * kSquare, .steps = input_.blocks(), .rows = run.rows};
    if (is_copied_) {
      product.a = memory_.at<float>(copy_part_, thread) + run.at * kProductBlock;
      product.a_step = copy_rows_ * kProductBlock;
    } else {
      product.a = input_.plane(run.image, 0) + run.pixel * kProductBlock;
      product.a_step = plane_;
      product.is_first = block == 0;
    }
    return product;
  }
  // Computes rows of a run into scratch and passes them to the batch norm's backward.
  void put_some(simd::RowProduct product, const Run& run, std::int64_t block, int thread) const {
    // Prefetches the tensors that the batch norm's backward reads and writes.
    std::array<simd::CacheLines, 2 * simd::kMostColumns> lines;
    std::size_t count = 0;
    for (int column = 0; column < product.columns; ++column) {
      const NormTouches<float> touches = results_.touches(block + column, run.image, run.pixel);
      lines[count++] = {touches.read, product.rows};
      if (touches.written != nullptr) lines[count++] = {touches.written, product.rows, true};
    }
    simd::Fetching beside(std::span<const simd::CacheLines>(lines).first(count), product.rows * product.steps);
    product.beside = &beside;
    product.c = memory_.at<float>(sums_part_, thread);
    product.c_column = kPanelUnit * kProductBlock;
    simd::row_product(product);
    for (int column = 0; column < product.columns; ++column) {
      results_.put({.block = block + column,
                    .c = product.c + column * product.c_column,
                    .at = memory_.at<std::int64_t>(targets_part_, thread) + run.at,
                    .rows = product.rows,
                    .thread = thread});
    }
  }

  ProductShape s_;
  ConvTensors tensors_;
  bool is_turned_;
  std::int64_t pixels_, plane_;
  ConvInput<float> input_;
  ProductResults<float> results_;
  bool is_copied_;
  std::int64_t target_blocks_;
  std::int64_t panels_ = 0, panel_rows_ = 0, copy_rows_ = 0;
  KernelScratch::Part weights_part_, copy_part_, sources_part_, targets_part_, lines_part_, sums_part_;
  float* weights_ = nullptr;
};

}  // namespace

std::unique_ptr<ConvKernel> row_convolution(const ProductShape& shape, const ConvTensors& tensors, bool is_turned) {
  return std::make_unique<RowConvolution>(shape, tensors, is_turned);
}

}  // namespace roentgen::engine::cpu
