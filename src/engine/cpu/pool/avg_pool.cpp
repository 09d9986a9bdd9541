// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Plan entries of average pooling, over windows and over the whole image.
#include "graph/ops/avg_pool.h"

#include "engine/cpu/plan/team.h"
#include "engine/cpu/pool/pooling.h"

namespace roentgen::engine::cpu {
namespace {
PoolGeometry geometry_of(const graph::AvgPool& op, const graph::Node& node, const Located& src) {
  return {.src = src,
          .dst = node.shape,
          .kernel = op.kernel,
          .stride = op.stride,
          .pad = op.pad,
          .kind = op.count_pad ? PoolKind::AverageWithPad : PoolKind::AverageWithoutPad};
}

// (N, C, H, W) in any of our layouts <-> (N, C) plain. One read or one write of the image; sums in double.
class GlobalPool final : public Kernel {
 public:
  enum class Direction { Forward, Backward };
  GlobalPool(Direction direction, const Located& image, TensorId mean)
      : direction_(direction), image_(image), mean_(mean) {}
  void bind(const Addresses& addresses) override {
    pixels_ = addresses.f32(image_.tensor);
    means_ = addresses.f32(mean_);
  }
  void run() override {
    const std::int64_t C = image_.shape[1];
    const std::int64_t block = image_.layout.block;
    const std::int64_t blocks = channel_blocks(image_.shape, image_.layout);
    const std::int64_t count = pixels(image_.shape);
    parallel_ranges(omp_get_max_threads(), image_.shape[0] * blocks, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t cell = begin; cell < end; ++cell) {
        const std::int64_t channel = cell % blocks * block;
        float* row = pixels_ + cell * count * block;
        float* mean = means_ + cell / blocks * C + channel;
        const std::int64_t used = std::min<std::int64_t>(block, C - channel);
        if (direction_ == Direction::Forward) {
          average(row, count, block, used, mean);
        } else {
          spread(row, count, block, used, mean);
        }
      }
    });
  }

 private:
  static void average(const float* row, std::int64_t count, std::int64_t block, std::int64_t used, float* mean) {
    double sums[16] = {};
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t c = 0; c < block; ++c) sums[c] += static_cast<double>(row[i * block + c]);
    }
    for (std::int64_t c = 0; c < used; ++c) mean[c] = static_cast<float>(sums[c] / static_cast<double>(count));
  }
  static void spread(float* row, std::int64_t count, std::int64_t block, std::int64_t used, const float* mean) {
    float values[16] = {};
    for (std::int64_t c = 0; c < used; ++c) values[c] = mean[c] / static_cast<float>(count);
    for (std::int64_t i = 0; i < count; ++i) std::copy_n(values, block, row + i * block);
  }

  Direction direction_;
  Located image_;
  TensorId mean_;
  float* pixels_ = nullptr;
  float* means_ = nullptr;
};
}  // namespace

void lower(const graph::AvgPool& op, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  lower_pool(geometry_of(op, node, pool_source(node.inputs[0], lowering)), id, lowering);
}

void lower_backward(const graph::AvgPool& op, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  Located src = lowering.value(node.inputs[0]);
  src.layout = lowering.value(id).layout;
  lower_pool_backward(geometry_of(op, node, src), id, lowering);
}

void lower(const graph::GlobalAvgPool&, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Located src = lowering.value_f32(node.inputs[0]);
  const Located dst = lowering.define(id, Layout{});
  lowering.emit(node,
                {.what = "forward",
                 .kind = "global_pool_forward",
                 .reads = {src.tensor},
                 .writes = {dst.tensor},
                 .implementation = "loop"},
                std::make_unique<GlobalPool>(GlobalPool::Direction::Forward, src, dst.tensor));
}

void lower_backward(const graph::GlobalAvgPool&, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  Located src = lowering.value(node.inputs[0]);
  src.layout.dtype = DType::F32;
  const Located diff_dst = lowering.gradient(id, Layout{});
  const Located diff_src = lowering.gradient_tensor(node.inputs[0], src.layout);
  lowering.emit(node,
                {.what = "backward",
                 .kind = "global_pool_backward",
                 .pass = Pass::BackwardData,
                 .reads = {diff_dst.tensor},
                 .writes = {diff_src.tensor},
                 .implementation = "loop"},
                std::make_unique<GlobalPool>(GlobalPool::Direction::Backward, diff_src, diff_dst.tensor));
  lowering.contribute(node.inputs[0], diff_src);
}

}  // namespace roentgen::engine::cpu
