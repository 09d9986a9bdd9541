// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of average pooling, over windows and over the whole image.
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

void average(const float* row, std::int64_t count, std::int64_t block, std::int64_t used, float* mean) {
  double sums[16] = {};
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t c = 0; c < block; ++c) sums[c] += static_cast<double>(row[i * block + c]);
  }
  for (std::int64_t c = 0; c < used; ++c) mean[c] = static_cast<float>(sums[c] / static_cast<double>(count));
}

void spread(float* row, std::int64_t count, std::int64_t block, std::int64_t used, const float* mean) {
  float values[16] = {};
  for (std::int64_t c = 0; c < used; ++c) values[c] = mean[c] / static_cast<float>(count);
  for (std::int64_t i = 0; i < count; ++i) std::copy_n(values, block, row + i * block);
}

// Kernel between an image (N, C, H, W) in any of our layouts and plain means (N, C). Reads or writes the image once;
// sums are in double.
template <typename Row>
std::unique_ptr<Kernel> global_pool(const Located& image, TensorId mean, Row row) {
  return make_kernel([=](const Addresses& at) {
    return [=, rows = at.f32(image.tensor), means = at.f32(mean)] {
      const std::int64_t C = image.shape[1];
      const std::int64_t block = image.layout.block;
      const std::int64_t blocks = channel_blocks(image.shape, image.layout);
      const std::int64_t count = pixels(image.shape);
      parallel_ranges(omp_get_max_threads(), image.shape[0] * blocks, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t cell = begin; cell < end; ++cell) {
          const std::int64_t channel = cell % blocks * block;
          row(rows + cell * count * block, count, block, std::min<std::int64_t>(block, C - channel),
              means + cell / blocks * C + channel);
        }
      });
    };
  });
}
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
  lowering.emit_forward(id, "global_pool", {src.tensor}, dst, {global_pool(src, dst.tensor, average), "loop"});
}

void lower_backward(const graph::GlobalAvgPool&, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  Located src = lowering.value(node.inputs[0]);
  src.layout.dtype = DType::F32;
  const Located diff_dst = lowering.gradient(id, Layout{});
  const Located diff_src = lowering.gradient_tensor(node.inputs[0], src.layout);
  lowering.emit_backward(id, "global_pool", {diff_dst.tensor}, diff_src,
                         {global_pool(diff_src, diff_dst.tensor, spread), "loop"});
}

}  // namespace roentgen::engine::cpu
