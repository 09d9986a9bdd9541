// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Weight gradient of 1x1 windows in f32, computed over panels of pixels of one image. A panel's values and gradients,
// in all channels of a thread, stay in the L2 cache. The blocks that are being multiplied stay in L1. Both are read in
// place, except for normalised values, which are copied.
#include <omp.h>

#include <algorithm>
#include <span>

#include "core/error.h"
#include "engine/cpu/conv/channel_sums.h"
#include "engine/cpu/conv/conv_input.h"
#include "engine/cpu/conv/products/product_kernels.h"
#include "engine/cpu/plan/kernel_scratch.h"
#include "engine/cpu/plan/team.h"
#include "engine/cpu/simd/pointwise.h"

namespace roentgen::engine::cpu {
namespace {
constexpr std::int64_t kSquare = kProductBlock * kProductBlock;
constexpr std::int64_t kFloat_bytes = sizeof(float);
constexpr std::int64_t kPanel_bytes = std::int64_t{384} << 10;
// With at most this many pixels, two blocks of gradients and one of values fit into the L1 cache.
constexpr std::int64_t kLeastPixels = 64, kMostPixels = 224;

class RowWeights final : public ConvKernel {
 public:
  RowWeights(const ProductShape& shape, const ConvTensors& tensors)
      : ConvKernel(shape.threads),
        s_(shape),
        tensors_(tensors),
        pixels_(shape.in_height * shape.in_width),
        plane_(pixels_ * kProductBlock),
        input_(tensors.src, shape.in_blocks, kProductBlock, plane_, tensors.prologue),
        gradient_(tensors.dst, shape.out_blocks, kProductBlock, plane_) {
    RG_ASSERT(is_pointwise(shape));
    share_out();
    const std::int64_t most = kPanel_bytes / (kProductBlock * kFloat_bytes * (own_blocks(true) + own_blocks(false)));
    panels_of_image_ = pieces_of(pixels_, std::clamp(most, kLeastPixels, kMostPixels));
    panel_ = pieces_of(pixels_, panels_of_image_);
    panels_of_image_ = pieces_of(pixels_, panel_);
    sums_part_ = memory_.add((parts_ - 1) * floats() * kFloat_bytes);
    copy_rows_ = panel_ | 1;
    // Reserves enough for any preceding batch norm, because scratch is requested before the batch norm is known.
    values_part_ = memory_.add_own(own_blocks(true) * copy_rows_ * kProductBlock * kFloat_bytes);
    rows_part_ = memory_.add_own(input_.tables() * panel_ * static_cast<std::int64_t>(sizeof(std::int64_t)));
    lines_part_ =
        memory_.add_own((own_blocks(true) + own_blocks(false)) * static_cast<std::int64_t>(sizeof(simd::CacheLines)));
  }

  void bind(const Addresses& addresses) override {
    input_.bind(addresses);
    gradient_.bind(addresses);
    dst_ = addresses.f32(tensors_.dst);
    weights_ = addresses.f32(tensors_.weights);
    bias_ = tensors_.bias >= 0 ? addresses.f32(tensors_.bias) : nullptr;
    memory_.bind(addresses, tensors_);
  }

  void run() override {
#pragma omp parallel num_threads(s_.threads)
    {
      const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
      // OpenMP may grant a smaller team than requested.
      for (int item = thread; item < parts_ * slices_; item += threads) compute(item / slices_, item % slices_, thread);
#pragma omp barrier
      const Share squares = share_of(parts_ > 1 ? floats() / kSquare : 0, thread, threads);
      for (std::int64_t i = squares.begin; i < squares.end; ++i) add_parts(i * kSquare);
      const Share blocks = share_of(bias_ == nullptr ? 0 : s_.out_blocks, thread, threads);
      for (std::int64_t i = blocks.begin; i < blocks.end; ++i) {
        sum_channels(dst_, s_.images, s_.out_blocks, pixels_, static_cast<int>(kProductBlock), i, bias_);
      }
    }
  }

 private:
  [[nodiscard]] std::int64_t floats() const { return s_.out_blocks * s_.in_blocks * kSquare; }

  // Divides the work. If the sums are small compared with the data that is read, threads process different pixels and
  // have separate sums. Otherwise they divide the channels of the side that has more.
  void share_out() {
    const std::int64_t read = s_.images * plane_ * (s_.in_blocks + s_.out_blocks);
    is_cut_by_input_ = s_.in_blocks >= s_.out_blocks;
    const std::int64_t pairs = pieces_of(std::max(s_.in_blocks, s_.out_blocks), simd::kMostColumns);
    for (slices_ = 1; slices_ < s_.threads; ++slices_) {
      if (s_.threads % slices_ != 0) continue;
      const std::int64_t parts = s_.threads / slices_;
      const bool is_cheap = (parts - 1) * floats() * 8 <= read;
      if (is_cheap || 2 * slices_ > pairs) break;
    }
    // Lower bound of the number of panels, since an image may have several.
    const std::int64_t panels = s_.images * pieces_of(pixels_, kMostPixels);
    parts_ = static_cast<int>(std::min<std::int64_t>(s_.threads / slices_, panels));
  }
  // Largest number of channel blocks that a thread processes, of the input or of the gradient.
  [[nodiscard]] std::int64_t own_blocks(bool is_input) const {
    const std::int64_t blocks = is_input ? s_.in_blocks : s_.out_blocks;
    if (is_input != is_cut_by_input_) return blocks;
    return std::min(blocks, pieces_of(pieces_of(blocks, simd::kMostColumns), slices_) * simd::kMostColumns);
  }
  [[nodiscard]] Share blocks_of(bool is_input, int slice) const {
    const std::int64_t blocks = is_input ? s_.in_blocks : s_.out_blocks;
    if (is_input != is_cut_by_input_) return {0, blocks};
    const Share pairs = share_of(pieces_of(blocks, simd::kMostColumns), slice, slices_);
    return {std::min(blocks, pairs.begin * simd::kMostColumns), std::min(blocks, pairs.end * simd::kMostColumns)};
  }

  [[nodiscard]] float* sums_of(int part) const {
    return part == 0 ? weights_ : memory_.at<float>(sums_part_) + (part - 1) * floats();
  }
  void add_parts(std::int64_t at) const {
    for (int part = 1; part < parts_; ++part) {
      const float* from = sums_of(part) + at;
      for (std::int64_t i = 0; i < kSquare; ++i) weights_[at + i] += from[i];
    }
  }

  // Range of pixels in an image.
  struct Rows {
    std::int64_t image = 0;
    std::int64_t pixel = 0;
    std::int64_t count = 0;
  };
  [[nodiscard]] Rows rows_of(std::int64_t panel) const {
    const std::int64_t pixel = panel % panels_of_image_ * panel_;
    return {.image = panel / panels_of_image_, .pixel = pixel, .count = std::min(panel_, pixels_ - pixel)};
  }

  void compute(int part, int slice, int thread) const {
    const Share panels = share_of(s_.images * panels_of_image_, part, parts_);
    const Share in = blocks_of(true, slice), out = blocks_of(false, slice);
    if (in.begin == in.end || out.begin == out.end) return;  // no work: more threads than blocks
    for (std::int64_t panel = panels.begin; panel < panels.end; ++panel) {
      const Rows here = rows_of(panel);
      const Side values = tensors_.prologue.pieces.empty() ? side_of(input_, in, here) : normalised(in, here, thread);
      const Side gradients = side_of(gradient_, out, here);
      // Prefetches the next panel during the products.
      const bool has_next = panel + 1 < panels.end;
      simd::Fetching ahead(
          has_next ? next_lines(rows_of(panel + 1), in, out, thread) : std::span<const simd::CacheLines>(),
          (in.end - in.begin) * pieces_of(out.end - out.begin, simd::kMostColumns) * here.count);
      multiply(in, values, out, gradients, here.count, sums_of(part), panel > panels.begin, &ahead);
    }
  }

  [[nodiscard]] std::span<const simd::CacheLines> next_lines(const Rows& next, const Share& in, const Share& out,
                                                             int thread) const {
    auto* const lines = memory_.at<simd::CacheLines>(lines_part_, thread);
    std::size_t count = 0;
    const auto add = [&](const float* plane) { lines[count++] = {plane + next.pixel * kProductBlock, next.count}; };
    for (std::int64_t block = in.begin; block < in.end; ++block) add(input_.plane(next.image, block));
    for (std::int64_t block = out.begin; block < out.end; ++block) add(gradient_.plane(next.image, block));
    return {lines, count};
  }

  // Values or gradients of a panel: blocks of channels that are `step` floats apart.
  struct Side {
    const float* first = nullptr;
    std::int64_t step = 0;
  };
  [[nodiscard]] Side side_of(const ConvInput<float>& from, const Share& blocks, const Rows& rows) const {
    return {from.plane(rows.image, blocks.begin) + rows.pixel * kProductBlock, plane_};
  }
  [[nodiscard]] Side normalised(const Share& blocks, const Rows& rows, int thread) const {
    auto* at = memory_.at<std::int64_t>(rows_part_, thread);
    for (std::int64_t table = 0; table < input_.tables(); ++table) {
      const std::int64_t begin = rows.image * input_.image_blocks(table) * plane_ + rows.pixel * kProductBlock;
      for (std::int64_t i = 0; i < rows.count; ++i) at[table * panel_ + i] = begin + i * kProductBlock;
    }
    auto* const to = memory_.at<float>(values_part_, thread);
    const std::int64_t step = copy_rows_ * kProductBlock;
    for (std::int64_t block = blocks.begin; block < blocks.end; ++block) {
      simd::normalise_rows(input_.rows(block, at, panel_, 0), rows.count, to + (block - blocks.begin) * step);
    }
    return {to, step};
  }

  void multiply(const Share& in, const Side& values, const Share& out, const Side& gradients, std::int64_t pixels,
                float* sums, bool is_accumulating, simd::Fetching* ahead) const {
    const std::int64_t next_out = s_.in_blocks * kSquare;
    for (std::int64_t o = out.begin; o < out.end; o += simd::kMostColumns) {
      for (std::int64_t i = in.begin; i < in.end; ++i) {
        simd::pixel_product({.a = values.first + (i - in.begin) * values.step,
                             .b = gradients.first + (o - out.begin) * gradients.step,
                             .b_column = gradients.step,
                             .pixels = pixels,
                             .columns = static_cast<int>(std::min<std::int64_t>(simd::kMostColumns, out.end - o)),
                             .c = sums + o * next_out + i * kSquare,
                             .c_column = next_out,
                             .is_accumulating = is_accumulating,
                             .ahead = ahead});
      }
    }
  }

  ProductShape s_;
  ConvTensors tensors_;
  std::int64_t pixels_, plane_;
  ConvInput<float> input_, gradient_;
  bool is_cut_by_input_ = false;
  int parts_ = 1, slices_ = 1;
  std::int64_t panels_of_image_ = 1, panel_ = 0, copy_rows_ = 0;
  KernelScratch::Part sums_part_, values_part_, rows_part_, lines_part_;
  const float* dst_ = nullptr;
  float* weights_ = nullptr;
  float* bias_ = nullptr;
};

}  // namespace

std::unique_ptr<ConvKernel> row_weights(const ProductShape& shape, const ConvTensors& tensors) {
  return std::make_unique<RowWeights>(shape, tensors);
}

}  // namespace roentgen::engine::cpu
