// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of batch norm's gradients to a plan.
#include <utility>
#include <variant>
#include <vector>

#include "core/error.h"
#include "engine/cpu/norm/batch_norm_entries.h"

namespace roentgen::engine::cpu {
namespace {
// Tensor for the recomputed value, if the value was dropped and a reader waits for it; else empty.
Located again(graph::NodeId id, Layout layout, Lowering& lowering) {
  if (!lowering.is_missing(id) || !lowering.is_awaited(id)) return {};
  const graph::Node& node = lowering.node(id);
  return lowering.tensor(node.name + "/again", node.shape, layout);
}

// Returns the operands of a shared backward, except dy, constants and partial sums. Creates the gradients of pieces
// that have none yet.
FusedNormBackward open_shared_backward(graph::NodeId id, Layout layout, Lowering& lowering, Emission& emission) {
  const graph::Node& node = lowering.node(id);
  const auto& op = std::get<graph::BatchNorm>(node.op);
  const std::vector<graph::NodeId> ids = lowering.pieces(node.inputs[0]);
  NormBackward work{.pieces = norm_pieces(node.inputs[0], lowering),
                    .parameters = norm_parameters(op, node, lowering),
                    .diff_scale = lowering.parameter_gradient(node, "weight"),
                    .diff_shift = lowering.parameter_gradient(node, "bias"),
                    .relu = op.relu};
  emission.reads.insert(emission.reads.end(), {work.parameters.scale, work.parameters.shift});
  emission.writes.insert(emission.writes.end(), {work.diff_scale, work.diff_shift});
  for (std::size_t i = 0; i < ids.size(); ++i) {
    SharedNorm& shared = lowering.shared_norm(ids[i]);
    NormPiece& piece = work.pieces[i];
    const graph::Node& owner = lowering.node(ids[i]);
    piece.statistics = shared.statistics;
    piece.needs_gradient = lowering.needs_gradient(ids[i]);
    piece.is_first = shared.gradient < 0;
    if (piece.needs_gradient && piece.is_first) {
      const Located here{-1, owner.shape, layout};
      shared.gradient = lowering.tensor("G:" + owner.name, owner.shape, layout).tensor;
      shared.sums =
          lowering.scratch("AB:" + owner.name, channel_bytes(norm_shape(here, layout.dtype, id, lowering), 2));
    }
    emission.reads.insert(emission.reads.end(), {piece.value, piece.statistics});
    if (piece.needs_gradient) {
      piece.gradient = shared.gradient;
      piece.sums = shared.sums;
      emission.writes.insert(emission.writes.end(), {piece.gradient, piece.sums});
    }
  }
  return {.shape = norm_shape({-1, node.shape, layout}, layout.dtype, id, lowering), .work = std::move(work)};
}

void lower_backward_shared(graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Layout layout = layout_of_result(lowering.pieces(node.inputs[0])[0], lowering);
  const Located dy = lowering.gradient(id, layout);
  Emission emission{.what = "backward",
                    .kind = "concat_batch_norm_backward",
                    .pass = Pass::BackwardData,
                    .reads = {dy.tensor},
                    .writes = {},
                    .implementation = norm_way(lowering)};
  auto [shape, work] = open_shared_backward(id, layout, lowering, emission);
  work.dy = dy.tensor;
  work.constants = lowering.scratch(node.name + "/constants_backward", channel_bytes(shape, 2));
  work.partial = lowering.scratch(node.name + "/partial_backward", partial_bytes(shape, shape.images));
  const Located y = again(id, layout, lowering);
  work.y_again = y.tensor;
  emission.writes.insert(emission.writes.end(), {work.constants, work.partial});
  if (y.tensor >= 0) emission.writes.push_back(y.tensor);
  lowering.emit(node, std::move(emission), shared_backward_kernel(shape, work));
  if (y.tensor >= 0) lowering.recomputed(id, y);
}

void lower_backward_single(const graph::BatchNorm& op, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Layout layout = layout_of_result(node.inputs[0], lowering);
  const Layout layout_of_dx = layout_of_value(node.inputs[0], lowering);
  std::vector<Located> incoming = lowering.gradients(id, layout);
  if (incoming.size() > 2) incoming = {lowering.gradient(id, layout)};
  const NormShape shape = norm_shape(incoming[0], layout_of_dx.dtype, id, lowering);
  const bool has_residual = node.inputs.size() == 2;
  Emission emission{.what = "backward",
                    .kind = has_residual ? "batch_norm_add_relu_backward"
                            : op.relu    ? "batch_norm_relu_backward"
                                         : "batch_norm_backward",
                    .pass = Pass::BackwardData,
                    .reads = {incoming[0].tensor},
                    .writes = {},
                    .implementation = norm_way(lowering),
                    .in_place = {}};
  const Located y = again(id, layout, lowering);
  NormBackward work{.pieces = norm_pieces(node.inputs[0], lowering),
                    .parameters = norm_parameters(op, node, lowering),
                    .dy = incoming[0].tensor,
                    .y_again = y.tensor,
                    .diff_scale = lowering.parameter_gradient(node, "weight"),
                    .diff_shift = lowering.parameter_gradient(node, "bias"),
                    .constants = lowering.scratch(node.name + "/constants_backward", channel_bytes(shape, 5)),
                    .partial = lowering.scratch(node.name + "/partial_backward", partial_bytes(shape, shape.images)),
                    .relu = op.relu};
  work.pieces[0].statistics = lowering.own_statistics(id);
  emission.reads.insert(emission.reads.end(), {work.pieces[0].value, work.pieces[0].statistics, work.parameters.scale,
                                               work.parameters.shift});
  if (has_residual && (op.relu || y.tensor >= 0)) {
    const bool is_there = !lowering.is_missing(id);
    const TensorId read = lowering.value_again(is_there ? id : node.inputs[1], layout).tensor;
    (is_there ? work.y : work.residual) = read;
    emission.reads.push_back(read);
  }
  const Located dx = lowering.gradient_tensor(node.inputs[0], layout_of_dx);
  work.dx = dx.tensor;
  emission.writes = {work.diff_scale, work.diff_shift, work.constants, work.partial, work.dx};
  if (y.tensor >= 0) emission.writes.push_back(y.tensor);
  if (incoming.size() == 2) {
    work.dy2 = incoming[1].tensor;
    emission.reads.push_back(work.dy2);
  }
  // Stores the masked sum of the incoming gradients, because the residual or the second phase reads it.
  if (has_residual || incoming.size() == 2) {
    work.g = lowering.tensor("g:" + node.name, node.shape, layout).tensor;
    emission.writes.push_back(work.g);
    emission.in_place.emplace_back(incoming.back().tensor, work.g);
  }
  // dx may overwrite dy: the second phase reads g instead, or reads each element of dy before it writes there.
  emission.in_place.emplace_back(incoming[0].tensor, work.dx);
  lowering.emit(node, std::move(emission), single_backward_kernel(shape, work));
  lowering.contribute(node.inputs[0], dx);
  if (has_residual) lowering.contribute(node.inputs[1], {work.g, node.shape, layout});
  if (y.tensor >= 0) lowering.recomputed(id, y);
}

}  // namespace

void lower_backward(const graph::BatchNorm& op, graph::NodeId id, Lowering& lowering) {
  if (lowering.role(id).is_shared) {
    lower_backward_shared(id, lowering);
  } else {
    lower_backward_single(op, id, lowering);
  }
}

FusedNormBackward fuse_norm_backward(graph::NodeId id, Lowering& lowering, Emission& emission) {
  RG_ASSERT(lowering.normalised(id) && !lowering.has_gradient(id));
  ++lowering.plan.fused["norm_gradient"];
  const graph::Node& node = lowering.node(id);
  const Layout layout = layout_of_result(lowering.pieces(node.inputs[0])[0], lowering);
  FusedNormBackward fused = open_shared_backward(id, layout, lowering, emission);
  fused.work.constants = lowering.normalised(id)->constants;
  fused.work.partial =
      lowering.scratch(node.name + "/partial_backward", partial_bytes(fused.shape, lowering.threads()));
  emission.reads.push_back(fused.work.constants);
  emission.writes.push_back(fused.work.partial);
  return fused;
}

Located finish_norm(graph::NodeId id, Lowering& lowering) {
  SharedNorm& shared = lowering.shared_norm(id);
  const Layout layout = layout_of_value(id, lowering);
  const graph::Node& node = lowering.node(id);
  const Located here = lowering.value_in(id, layout);
  const NormShape shape = norm_shape(here, layout.dtype, id, lowering);
  const Located dx = lowering.gradient_tensor(id, layout);
  const TensorId constants = lowering.scratch(node.name + "/constants_finish", channel_bytes(shape, 3));
  lowering.emit(node,
                {.what = "finish",
                 .kind = "concat_batch_norm_finish",
                 .pass = Pass::BackwardData,
                 .reads = {here.tensor, shared.gradient, shared.sums, shared.statistics},
                 .writes = {dx.tensor, constants},
                 .implementation = norm_way(lowering),
                 .in_place = {{shared.gradient, dx.tensor}}},
                finish_kernel(shape, {.value = here.tensor,
                                      .gradient = shared.gradient,
                                      .sums = shared.sums,
                                      .statistics = shared.statistics,
                                      .dx = dx.tensor,
                                      .constants = constants}));
  shared.gradient = -1;  // finished
  return dx;
}

}  // namespace roentgen::engine::cpu
