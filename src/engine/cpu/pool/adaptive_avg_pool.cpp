// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Plan entries of adaptive average pooling. An image that has the output's size already is passed on as it is.
#include "graph/ops/adaptive_avg_pool.h"

#include "engine/cpu/plan/lowering.h"
#include "engine/cpu/plan/team.h"

namespace roentgen::engine::cpu {
namespace {
constexpr std::int64_t kLargestBlock = 16;

// Images of `large` (N, C, H, W) and `small` (N, C, OH, OW), both in one layout. Forward reads large and writes small;
// backward the other way round. Sums in double.
class RegionMeans final : public Kernel {
 public:
  enum class Direction { Forward, Backward };
  RegionMeans(Direction direction, const Located& large, const Located& small)
      : direction_(direction), large_(large), small_(small) {}
  void bind(const Addresses& addresses) override {
    pixels_ = addresses.f32(large_.tensor);
    means_ = addresses.f32(small_.tensor);
  }
  void run() override {
    const std::int64_t cells = large_.shape[0] * channel_blocks(large_.shape, large_.layout);
    parallel_ranges(omp_get_max_threads(), cells, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t cell = begin; cell < end; ++cell) one_block(cell);
    });
  }

 private:
  void one_block(std::int64_t cell) const {
    const std::int64_t block = large_.layout.block;
    float* image = pixels_ + cell * pixels(large_.shape) * block;
    float* mean = means_ + cell * pixels(small_.shape) * block;
    if (direction_ == Direction::Backward) std::fill_n(image, pixels(large_.shape) * block, 0.0F);
    for (std::int64_t oh = 0; oh < small_.shape[2]; ++oh) {
      const graph::Region rows = graph::region(oh, small_.shape[2], large_.shape[2]);
      for (std::int64_t ow = 0; ow < small_.shape[3]; ++ow, mean += block) {
        const graph::Region columns = graph::region(ow, small_.shape[3], large_.shape[3]);
        if (direction_ == Direction::Forward) {
          average(image, rows, columns, mean);
        } else {
          spread(image, rows, columns, mean);
        }
      }
    }
  }
  void average(const float* image, graph::Region rows, graph::Region columns, float* mean) const {
    const std::int64_t block = large_.layout.block;
    double sums[kLargestBlock] = {};
    for (std::int64_t h = rows.begin; h < rows.end; ++h) {
      const float* row = image + (h * large_.shape[3] + columns.begin) * block;
      for (std::int64_t i = 0; i < (columns.end - columns.begin) * block; i += block) {
        for (std::int64_t c = 0; c < block; ++c) sums[c] += static_cast<double>(row[i + c]);
      }
    }
    const auto count = static_cast<double>((rows.end - rows.begin) * (columns.end - columns.begin));
    for (std::int64_t c = 0; c < block; ++c) mean[c] = static_cast<float>(sums[c] / count);
  }
  void spread(float* image, graph::Region rows, graph::Region columns, const float* mean) const {
    const std::int64_t block = large_.layout.block;
    const auto count = static_cast<float>((rows.end - rows.begin) * (columns.end - columns.begin));
    float shares[kLargestBlock] = {};
    for (std::int64_t c = 0; c < block; ++c) shares[c] = mean[c] / count;
    for (std::int64_t h = rows.begin; h < rows.end; ++h) {
      float* row = image + (h * large_.shape[3] + columns.begin) * block;
      for (std::int64_t i = 0; i < (columns.end - columns.begin) * block; i += block) {
        for (std::int64_t c = 0; c < block; ++c) row[i + c] += shares[c];
      }
    }
  }

  Direction direction_;
  Located large_;
  Located small_;
  float* pixels_ = nullptr;
  float* means_ = nullptr;
};
}  // namespace

void lower(const graph::AdaptiveAvgPool&, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Located src = lowering.value_f32(node.inputs[0]);
  if (src.shape == node.shape) {
    lowering.define_as(id, src);
    return;
  }
  const Located dst = lowering.define(id, src.layout);
  lowering.emit(node,
                {.what = "forward",
                 .kind = "adaptive_pool_forward",
                 .reads = {src.tensor},
                 .writes = {dst.tensor},
                 .implementation = "loop"},
                std::make_unique<RegionMeans>(RegionMeans::Direction::Forward, src, dst));
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
  lowering.emit(node,
                {.what = "backward",
                 .kind = "adaptive_pool_backward",
                 .pass = Pass::BackwardData,
                 .reads = {diff_dst.tensor},
                 .writes = {diff_src.tensor},
                 .implementation = "loop"},
                std::make_unique<RegionMeans>(RegionMeans::Direction::Backward, diff_src, diff_dst));
  lowering.contribute(node.inputs[0], diff_src);
}

}  // namespace roentgen::engine::cpu
