// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of adaptive average pooling. An image that already has the output's size is passed on without a
// copy.
#include "graph/ops/adaptive_avg_pool.h"

#include "engine/cpu/plan/lowering.h"
#include "engine/cpu/plan/team.h"

namespace roentgen::engine::cpu {
namespace {
constexpr std::int64_t kLargestBlock = 16;

// Region of an image with `width` columns, in blocks of channels.
struct RegionOfImage {
  graph::Region rows;
  graph::Region columns;
  std::int64_t width;
  std::int64_t block;
  [[nodiscard]] std::int64_t pixels() const { return (rows.end - rows.begin) * (columns.end - columns.begin); }
  // Calls body(row, elements) for each row of the region.
  template <typename Body>
  void for_rows(float* image, const Body& body) const {
    for (std::int64_t h = rows.begin; h < rows.end; ++h) {
      body(image + (h * width + columns.begin) * block, (columns.end - columns.begin) * block);
    }
  }
};

void average(const RegionOfImage& region, float* image, float* mean) {
  double sums[kLargestBlock] = {};
  region.for_rows(image, [&](const float* row, std::int64_t count) {
    for (std::int64_t i = 0; i < count; i += region.block) {
      for (std::int64_t c = 0; c < region.block; ++c) sums[c] += static_cast<double>(row[i + c]);
    }
  });
  const auto count = static_cast<double>(region.pixels());
  for (std::int64_t c = 0; c < region.block; ++c) mean[c] = static_cast<float>(sums[c] / count);
}

void spread(const RegionOfImage& region, float* image, const float* mean) {
  const auto count = static_cast<float>(region.pixels());
  float shares[kLargestBlock] = {};
  for (std::int64_t c = 0; c < region.block; ++c) shares[c] = mean[c] / count;
  region.for_rows(image, [&](float* row, std::int64_t elements) {
    for (std::int64_t i = 0; i < elements; i += region.block) {
      for (std::int64_t c = 0; c < region.block; ++c) row[i + c] += shares[c];
    }
  });
}

// Kernel that reads images `large` (N, C, H, W) and writes their region means `small` (N, C, OH, OW), or the reverse in
// backward. `large` and `small` have the same layout. Sums are in double.
enum class Direction { Forward, Backward };
std::unique_ptr<Kernel> region_means(Direction direction, const Located& large, const Located& small) {
  return make_kernel([=](const Addresses& at) {
    return [=, images = at.f32(large.tensor), means = at.f32(small.tensor)] {
      const std::int64_t block = large.layout.block;
      const std::int64_t cells = large.shape[0] * channel_blocks(large.shape, large.layout);
      parallel_ranges(omp_get_max_threads(), cells, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t cell = begin; cell < end; ++cell) {
          float* const image = images + cell * pixels(large.shape) * block;
          float* mean = means + cell * pixels(small.shape) * block;
          if (direction == Direction::Backward) std::fill_n(image, pixels(large.shape) * block, 0.0F);
          for (std::int64_t oh = 0; oh < small.shape[2]; ++oh) {
            for (std::int64_t ow = 0; ow < small.shape[3]; ++ow, mean += block) {
              const RegionOfImage region{graph::region(oh, small.shape[2], large.shape[2]),
                                         graph::region(ow, small.shape[3], large.shape[3]), large.shape[3], block};
              direction == Direction::Forward ? average(region, image, mean) : spread(region, image, mean);
            }
          }
        }
      });
    };
  });
}
}  // namespace

void lower(const graph::AdaptiveAvgPool&, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Located src = lowering.value_f32(node.inputs[0]);
  if (src.shape == node.shape) {
    lowering.define_as(id, src);
    return;
  }
  const Located dst = lowering.define(id, src.layout);
  lowering.emit_forward(id, "adaptive_pool", {src.tensor}, dst, {region_means(Direction::Forward, src, dst), "loop"});
}

void lower_backward(const graph::AdaptiveAvgPool&, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  Located src = lowering.value(node.inputs[0]);
  src.layout.dtype = DType::F32;
  const Located diff_dst = lowering.gradient(id, src.layout);
  if (src.shape == node.shape) {
    lowering.contribute(node.inputs[0], diff_dst);
    return;
  }
  const Located diff_src = lowering.gradient_tensor(node.inputs[0], src.layout);
  lowering.emit_backward(id, "adaptive_pool", {diff_dst.tensor}, diff_src,
                         {region_means(Direction::Backward, diff_src, diff_dst), "loop"});
}

}  // namespace roentgen::engine::cpu
