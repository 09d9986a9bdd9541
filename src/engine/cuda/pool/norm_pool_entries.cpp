// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cuda/pool/norm_pool_entries.h"

#include <variant>

#include "core/error.h"
#include "engine/cuda/norm/batch_norm_entries.h"
#include "engine/cuda/norm/shared_norm.h"
#include "engine/cuda/pool/norm_pool.h"
#include "graph/passes/pass_list.h"
#include "graph/passes/rewrite.h"

namespace roentgen::engine::cuda {
namespace {
// Shape of the norm's result, which is the pooling's input.
PoolShape pool_shape(graph::NodeId norm, const Lowering& lowering) {
  const Shape& shape = lowering.node(norm).shape;
  return {.type = lowering.dtype(),
          .images = shape[0],
          .height = static_cast<int>(shape[2]),
          .width = static_cast<int>(shape[3]),
          .channels = static_cast<int>(padded_channels(shape, lowering.image_layout()))};
}

bool is_pooled_by(const graph::Node& node, const PoolShape& shape) {
  const auto* pool = std::get_if<graph::MaxPool>(&node.op);
  const auto is = [](const graph::Extent& extent, std::int64_t size) {
    return extent.height == size && extent.width == size;
  };
  return pool != nullptr && is(pool->kernel, 3) && is(pool->stride, 2) && is(pool->pad, 1) &&
         node.shape[2] == shape.out_height() && node.shape[3] == shape.out_width();
}

std::uint8_t* numbers_at(const Addresses& at, TensorId tensor) {
  return tensor < 0 ? nullptr : reinterpret_cast<std::uint8_t*>(at.bytes(tensor));
}
}  // namespace

bool is_pooled_norm(graph::NodeId norm, const Lowering& lowering) {
  const auto* op = std::get_if<graph::BatchNorm>(&lowering.node(norm).op);
  if (op == nullptr || !op->relu || lowering.node(norm).inputs.size() != 1 || !lowering.is_training()) return false;
  if (!graph::fusions_of(lowering.options().fuse, graph::Purpose::Training).normalised_input) return false;
  const std::vector<graph::NodeId>& readers = lowering.readers(norm);
  return readers.size() == 1 && !graph::is_output(lowering.graph(), norm) && !is_shared_norm(norm, lowering) &&
         is_pooled_by(lowering.node(readers[0]), pool_shape(norm, lowering));
}

void lower_norm_pool(graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const graph::NodeId norm = node.inputs[0];
  const PoolShape shape = pool_shape(norm, lowering);
  const Located src = lowering.image(lowering.node(norm).inputs[0]);
  const Located dst = lowering.define(id, lowering.image_layout());
  const TensorId statistics = lowering.own_statistics(norm);
  Emission emission{.what = "forward",
                    .kind = "norm_pool_forward",
                    .reads = {src.tensor, statistics},
                    .writes = {dst.tensor},
                    .implementation = "norm+relu+pool"};
  TensorId kept = -1, winner = -1;
  if (lowering.needs_gradient(id)) {
    kept = lowering.tensor(node.name + "/kept", node.shape, dst.layout).tensor;
    winner = lowering.scratch(node.name + "/winner", static_cast<std::size_t>(shape.out_elements()));
    emission.writes.insert(emission.writes.end(), {kept, winner});
    lowering.kept_by_forward(norm) = kept;
    lowering.kept_by_forward(id) = winner;
  }
  ++lowering.plan.fused["normalised_input"];
  lowering.emit(node, std::move(emission), make_kernel([=, stream = lowering.stream()](const Addresses& at) {
                  const float* const arrays = at.f32(statistics);
                  const NormPool work{.x = at.bytes(src.tensor),
                                      .scale = arrays + kScale * shape.channels,
                                      .shift = arrays + kShift * shape.channels,
                                      .y = at.bytes(dst.tensor),
                                      .kept = kept < 0 ? nullptr : at.bytes(kept),
                                      .winner = numbers_at(at, winner)};
                  return [=] { norm_pool(*stream, shape, work); };
                }));
}

void lower_norm_pool_backward(graph::NodeId id, Lowering& lowering) {
  const graph::NodeId norm = lowering.node(id).inputs[0];
  const graph::Node& node = lowering.node(norm);
  const PoolShape shape = pool_shape(norm, lowering);
  const Located diff_dst = lowering.image_gradient(id);
  const Located masked = lowering.gradient_tensor(id, lowering.image_layout());
  // Only the maxima have a gradient; the rest of the image adds nothing to the sums.
  const NormShape pooled = norm_shape(diff_dst, lowering);
  const NormBackward tensors{.x = lowering.kept_by_forward(norm),
                             .dy = diff_dst.tensor,
                             .masked = masked.tensor,
                             .statistics = lowering.own_statistics(norm),
                             .slopes = lowering.scratch(node.name + "/slopes", channel_bytes(pooled, kSlopeArrays)),
                             .diff_weight = lowering.parameter_gradient(node, "weight"),
                             .diff_bias = lowering.parameter_gradient(node, "bias"),
                             .mask = NormMask::Recomputed,
                             .count = shape.images * shape.height * shape.width};
  emit_norm_sums(node, tensors, pooled, lowering);
  if (!lowering.needs_gradient(node.inputs[0])) return;
  const Located src = lowering.image(node.inputs[0]);
  const Located diff_src = lowering.gradient_tensor(node.inputs[0], lowering.image_layout());
  const TensorId winner = lowering.kept_by_forward(id);
  lowering.emit_backward(norm, "norm_pool", {src.tensor, masked.tensor, winner, tensors.statistics, tensors.slopes},
                         diff_src,
                         {make_kernel([=, stream = lowering.stream()](const Addresses& at) {
                            const float* const arrays = at.f32(tensors.statistics);
                            const float* const slopes = at.f32(tensors.slopes);
                            const NormPoolGradient work{.x = at.bytes(src.tensor),
                                                        .g = at.bytes(masked.tensor),
                                                        .winner = numbers_at(at, winner),
                                                        .scale = arrays + kScale * shape.channels,
                                                        .slope = slopes + kSlope * shape.channels,
                                                        .offset = slopes + kOffset * shape.channels,
                                                        .dx = at.bytes(diff_src.tensor)};
                            return [=] { norm_pool_gradient(*stream, shape, work); };
                          }),
                          "norm+pool"},
                         src.tensor);
}

}  // namespace roentgen::engine::cuda
