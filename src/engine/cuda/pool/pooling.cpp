// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cuda/pool/pooling.h"

namespace roentgen::engine::cuda {
namespace {
PoolAxis axis_of(std::int64_t size, std::int64_t out, std::int64_t kernel, std::int64_t stride, std::int64_t pad) {
  return {.size = static_cast<int>(size),
          .out = static_cast<int>(out),
          .kernel = static_cast<int>(kernel),
          .stride = static_cast<int>(stride),
          .pad = static_cast<int>(pad)};
}

Pooling pooling_of(const PoolWindow& window, graph::NodeId id, const Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Shape& src = lowering.node(node.inputs[0]).shape;
  const auto& [op, kernel, stride, pad] = window;
  return {.op = op,
          .type = lowering.dtype(),
          .images = src[0],
          .channels = padded_channels(src, lowering.image_layout()),
          .height = axis_of(src[2], node.shape[2], kernel.height, stride.height, pad.height),
          .width = axis_of(src[3], node.shape[3], kernel.width, stride.width, pad.width)};
}

std::byte* bytes_at(const Addresses& at, TensorId tensor) { return tensor < 0 ? nullptr : at.bytes(tensor); }
}  // namespace

void lower_pool(const PoolWindow& window, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Located src = lowering.image(node.inputs[0]);
  const Located dst = lowering.define(id, lowering.image_layout());
  const Pooling pooling = pooling_of(window, id, lowering);
  Emission emission{.what = "forward",
                    .kind = "pool_forward",
                    .reads = {src.tensor},
                    .writes = {dst.tensor},
                    .implementation = "window"};
  if (window.op == PoolOp::Max && lowering.needs_gradient(id)) {
    lowering.kept_by_forward(id) = lowering.scratch(
        node.name + "/winner", static_cast<std::size_t>(pooling.out_elements()) * pooling.winner_bytes());
    emission.writes.push_back(lowering.kept_by_forward(id));
  }
  lowering.emit(
      node, std::move(emission),
      make_kernel([=, winner = lowering.kept_by_forward(id), stream = lowering.stream()](const Addresses& at) {
        return [=, from = at.bytes(src.tensor), to = at.bytes(dst.tensor), won = bytes_at(at, winner)] {
          pool(*stream, pooling, from, to, won);
        };
      }));
}

void lower_pool_backward(const PoolWindow& window, graph::NodeId id, Lowering& lowering) {
  const graph::NodeId input = lowering.node(id).inputs[0];
  const Located diff_dst = lowering.image_gradient(id);
  const Located diff_src = lowering.gradient_tensor(input, lowering.image_layout());
  const TensorId winner = lowering.kept_by_forward(id);
  std::vector<TensorId> reads{diff_dst.tensor};
  if (winner >= 0) reads.push_back(winner);
  lowering.emit_backward(
      id, "pool", std::move(reads), diff_src,
      {make_kernel([=, pooling = pooling_of(window, id, lowering), stream = lowering.stream()](const Addresses& at) {
         return [=, from = at.bytes(diff_dst.tensor), to = at.bytes(diff_src.tensor), won = bytes_at(at, winner)] {
           pool_gradient(*stream, pooling, from, won, to);
         };
       }),
       "window"});
}

}  // namespace roentgen::engine::cuda
