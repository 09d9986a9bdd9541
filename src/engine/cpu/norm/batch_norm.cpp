// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adds the kernel calls of batch norm's forward pass to a plan. Gradients are in batch_norm_gradient.cpp. There are two
// methods with equal results.
// - For a value read by one batch norm, statistics and result are computed block by block, while the block is in cache.
//   The convolution before may sum the moments, and the one after may normalise; this file then omits these parts
//   (conv2d_input.h).
// - For pieces of a virtual concatenation, read by many batch norms (DenseNet), statistics are computed once per piece.
//   The gradients of all readers are summed into one tensor G, with two sums A and B per channel. A final pass combines
//   them.
#include "engine/cpu/norm/batch_norm_entries.h"

#include <string>

#include "core/error.h"
#include "engine/cpu/conv/folding.h"

namespace roentgen::engine::cpu {
namespace {
// Results of at least this size leave a thread's share of the last-level cache before they are read, so they are
// written past it. On DenseNet-121, forward kernels then take 0.72 times as long. Backward kernels gain nothing,
// because their results are read immediately.
constexpr std::int64_t kStreamedBytes = std::int64_t{16} << 20;
}  // namespace

Layout layout_of_value(graph::NodeId id, const Lowering& lowering) {
  if (lowering.is_shared_piece(id)) return lowering.vector_layout();
  return lowering.vector_layout().as(lowering.value(id).layout.dtype);
}
Layout layout_of_result(graph::NodeId id, const Lowering& lowering) {
  return layout_of_value(id, lowering).as(lowering.dtype());
}

NormShape norm_shape(const Located& located, DType value_dtype, graph::NodeId id, const Lowering& lowering) {
  return {.images = located.shape[0],
          .blocks = channel_blocks(located.shape, located.layout),
          .pixels = pixels(located.shape),
          .block = located.layout.block,
          .value_dtype = value_dtype,
          .result_dtype = located.layout.dtype,
          .threads = lowering.threads(),
          .is_streamed = static_cast<std::int64_t>(stored_bytes(located.shape, located.layout)) >= kStreamedBytes,
          .group = lowering.is_training() ? lowering.options().norm_group : nullptr,
          .index = id};
}

std::string norm_way(const Lowering& lowering) {
  const NormGroup* group = lowering.options().norm_group.get();
  return group != nullptr && group->ranks > 1 ? "simd over ranks" : "simd";
}

std::size_t channel_bytes(const NormShape& shape, std::size_t arrays) {
  return static_cast<std::size_t>(shape.blocks * shape.block) * arrays * sizeof(float);
}

std::size_t partial_bytes(const NormShape& shape, std::int64_t slots) {
  return static_cast<std::size_t>(shape.blocks * shape.block * slots) * 2 * sizeof(double);
}

NormParameters norm_parameters(const graph::BatchNorm& op, const graph::Node& node, Lowering& lowering) {
  return {.scale = lowering.parameter(node, "weight"),
          .shift = lowering.parameter(node, "bias"),
          .running_mean = lowering.parameter(node, "running_mean"),
          .running_variance = lowering.parameter(node, "running_var"),
          .epsilon = op.epsilon,
          .momentum = op.momentum};
}

std::vector<NormPiece> norm_pieces(graph::NodeId input, Lowering& lowering) {
  std::vector<NormPiece> pieces;
  for (const graph::NodeId id : lowering.pieces(input)) {
    const Located here = lowering.value_in(id, layout_of_value(id, lowering));
    pieces.push_back({.value = here.tensor, .blocks = channel_blocks(here.shape, here.layout)});
  }
  return pieces;
}

namespace {
// Collects a forward's input, residual and parameters, and pads the parameters to the blocks of its result.
NormForward open_forward(const graph::BatchNorm& op, graph::NodeId id, Layout layout, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  NormForward work{.pieces = norm_pieces(node.inputs[0], lowering),
                   .parameters = norm_parameters(op, node, lowering),
                   .relu = op.relu};
  for (const std::string_view name : {"weight", "bias", "running_mean", "running_var"}) {
    lowering.parameter_layout(node, name) = padded_vector(node.shape[1], padded_channels(node.shape, layout));
  }
  if (node.inputs.size() == 2) work.residual = lowering.value_in(node.inputs[1], layout).tensor;
  return work;
}

// Statistics of a piece, which is an input of a virtual concatenation. The first call emits the entry that computes
// them.
TensorId shared_statistics(const graph::BatchNorm& op, graph::NodeId piece, TensorId pivot, std::int64_t pivot_offset,
                           Lowering& lowering) {
  SharedNorm& shared = lowering.shared_norm(piece);
  if (shared.statistics >= 0) return shared.statistics;
  const Located here = lowering.value_in(piece, layout_of_value(piece, lowering));
  const NormShape shape = norm_shape(here, here.layout.dtype, piece, lowering);
  const graph::Node& node = lowering.node(piece);
  shared.statistics = lowering.scratch(node.name + "/statistics", channel_bytes(shape, 3));
  const TensorId partial = lowering.scratch(node.name + "/partial", partial_bytes(shape, shape.images));
  lowering.emit(node,
                {.what = "statistics",
                 .kind = "statistics",
                 .reads = {here.tensor, pivot},
                 .writes = {shared.statistics, partial},
                 .implementation = norm_way(lowering)},
                statistics_kernel(shape, {.value = here.tensor,
                                          .statistics = shared.statistics,
                                          .partial = partial,
                                          .pivot = pivot,
                                          .pivot_offset = pivot_offset,
                                          .epsilon = op.epsilon}));
  return shared.statistics;
}

// Defines the result `work.dst`. If the reader normalises its input itself, defines only the constants for it.
NormShape define_result(graph::NodeId id, Layout layout, NormForward& work, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Layout values = layout_of_value(lowering.pieces(node.inputs[0])[0], lowering);
  const bool is_stored = lowering.role(id).result_by < 0;
  const Located dst = is_stored ? lowering.define(id, layout) : Located{-1, node.shape, layout};
  const NormShape shape = norm_shape(dst, values.dtype, id, lowering);
  work.dst = dst.tensor;
  work.constants = lowering.scratch(node.name + "/constants", channel_bytes(shape, 2));
  if (is_stored) return shape;
  Prologue input{.pieces = {}, .constants = work.constants, .relu = work.relu};
  for (const NormPiece& piece : work.pieces) input.pieces.push_back({.value = piece.value, .blocks = piece.blocks});
  lowering.define_normalised(id, std::move(input));
  // Kernels read the inputs of a virtual concatenation in place, so they must have this layout (norm_roles.h).
  RG_ASSERT(values == lowering.vector_layout());
  ++lowering.plan.fused["normalised_input"];
  return shape;
}

void lower_inference(const graph::BatchNorm& op, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Folding folding{
      .result = id, .norm = &op, .residual = node.inputs.size() == 2 ? node.inputs[1] : -1, .relu = op.relu};
  if (lowering.folded_into(node.inputs[0]) == id && lower_folded(node.inputs[0], folding, lowering)) return;
  const Layout layout = layout_of_result(lowering.pieces(node.inputs[0])[0], lowering);
  NormForward work = open_forward(op, id, layout, lowering);
  const NormShape shape = define_result(id, layout, work, lowering);
  Emission emission{.what = "forward",
                    .kind = op.relu ? "batch_norm_relu_forward" : "batch_norm_forward",
                    .reads = {work.parameters.scale, work.parameters.shift, work.parameters.running_mean,
                              work.parameters.running_variance},
                    .writes = {work.dst, work.constants},
                    .implementation = "simd"};
  for (const NormPiece& piece : work.pieces) emission.reads.push_back(piece.value);
  if (work.residual >= 0) emission.reads.push_back(work.residual);
  if (work.pieces.size() == 1) emission.in_place = {{work.pieces[0].value, work.dst}};
  lowering.emit(node, std::move(emission), norm_forward_kernel(NormSource::Running, shape, std::move(work)));
}

void lower_shared(const graph::BatchNorm& op, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const std::vector<graph::NodeId> ids = lowering.pieces(node.inputs[0]);
  const Layout layout = layout_of_result(ids[0], lowering);
  NormForward work = open_forward(op, id, layout, lowering);
  std::int64_t offset = 0;
  Emission emission{.what = "forward",
                    .kind = "concat_batch_norm_forward",
                    .reads = {work.parameters.scale, work.parameters.shift},
                    .writes = {work.parameters.running_mean, work.parameters.running_variance},
                    .implementation = norm_way(lowering)};
  for (std::size_t i = 0; i < ids.size(); ++i) {
    work.pieces[i].statistics = shared_statistics(op, ids[i], work.parameters.running_mean, offset, lowering);
    offset += work.pieces[i].blocks * layout.block;
    emission.reads.push_back(work.pieces[i].statistics);
  }
  const NormShape shape = define_result(id, layout, work, lowering);
  if (work.dst >= 0) {
    emission.writes.push_back(work.dst);
    for (const NormPiece& piece : work.pieces) emission.reads.push_back(piece.value);
  }
  emission.writes.push_back(work.constants);
  lowering.emit(node, std::move(emission), norm_forward_kernel(NormSource::Pieces, shape, std::move(work)));
}

void lower_single(const graph::BatchNorm& op, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const Layout layout = layout_of_result(node.inputs[0], lowering);
  NormForward work = open_forward(op, id, layout, lowering);
  const NormShape shape = define_result(id, layout, work, lowering);
  const TensorId statistics = lowering.scratch(node.name + "/statistics", channel_bytes(shape, 3));
  lowering.own_statistics(id) = work.pieces[0].statistics = statistics;
  const TensorId moments = lowering.moments(node.inputs[0]);
  work.has_moments = moments >= 0;
  work.partial =
      work.has_moments ? moments : lowering.scratch(node.name + "/partial", partial_bytes(shape, shape.images));
  Emission emission{
      .what = "forward",
      .kind = work.residual >= 0 ? "batch_norm_add_relu_forward"
              : work.dst < 0     ? "batch_norm_statistics"
              : op.relu          ? "batch_norm_relu_forward"
                                 : "batch_norm_forward",
      .reads = {work.parameters.scale, work.parameters.shift},
      .writes = {statistics, work.constants, work.parameters.running_mean, work.parameters.running_variance},
      .implementation = norm_way(lowering)};
  if (!work.has_moments || work.dst >= 0) emission.reads.push_back(work.pieces[0].value);
  (work.has_moments ? emission.reads : emission.writes).push_back(work.partial);
  if (work.dst >= 0) emission.writes.push_back(work.dst);
  if (work.residual >= 0) {
    emission.reads.push_back(work.residual);
    emission.in_place = {{work.residual, work.dst}};
  }
  lowering.emit(node, std::move(emission), norm_forward_kernel(NormSource::Batch, shape, std::move(work)));
}
}  // namespace

void lower(const graph::BatchNorm& op, graph::NodeId id, Lowering& lowering) {
  if (!lowering.is_training()) {
    lower_inference(op, id, lowering);
  } else if (lowering.role(id).is_shared) {
    lower_shared(op, id, lowering);
  } else {
    lower_single(op, id, lowering);
  }
}

Located lower_again(const graph::BatchNorm& op, graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.node(id);
  const std::vector<graph::NodeId> ids = lowering.pieces(node.inputs[0]);
  const Layout layout = layout_of_result(ids[0], lowering);
  NormForward work{.pieces = norm_pieces(node.inputs[0], lowering), .parameters = norm_parameters(op, node, lowering)};
  Emission emission{.what = "again",
                    .kind = "batch_norm_again",
                    .pass = Pass::Auxiliary,
                    .reads = {work.parameters.scale, work.parameters.shift},
                    .writes = {},
                    .implementation = "simd",
                    .in_place = {}};
  const bool has_own = !lowering.role(id).is_shared;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    work.pieces[i].statistics = has_own ? lowering.own_statistics(id) : lowering.shared_norm(ids[i]).statistics;
    emission.reads.insert(emission.reads.end(), {work.pieces[i].value, work.pieces[i].statistics});
  }
  const Located dst = lowering.tensor(node.name + "/again", node.shape, layout);
  if (node.inputs.size() == 2) {
    work.residual = lowering.value_again(node.inputs[1], layout).tensor;
    emission.reads.push_back(work.residual);
    emission.in_place = {{work.residual, dst.tensor}};
  }
  work.dst = dst.tensor;
  work.relu = op.relu;
  const NormShape shape = norm_shape(dst, layout_of_value(ids[0], lowering).dtype, id, lowering);
  work.constants = lowering.scratch(node.name + "/constants_again", channel_bytes(shape, 2));
  emission.writes = {dst.tensor, work.constants};
  lowering.emit(node, std::move(emission), norm_forward_kernel(NormSource::Again, shape, std::move(work)));
  return dst;
}

}  // namespace roentgen::engine::cpu
