// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/conv/conv2d_input.h"

#include "engine/cpu/norm/batch_norm_entries.h"

namespace roentgen::engine::cpu {

ConvSource conv_source(graph::NodeId value, Layout layout, Lowering& lowering) {
  ConvSource source;
  if (!lowering.normalised(value)) {
    source.src = lowering.value_in(value, layout).tensor;
    source.reads = {source.src};
    return source;
  }
  source.prologue = *lowering.normalised(value);
  for (const Prologue::Piece& piece : source.prologue.pieces) source.reads.push_back(piece.value);
  source.reads.push_back(source.prologue.constants);
  return source;
}

ResultMoments moments_for_norm(const Located& result, graph::NodeId norm, Lowering& lowering) {
  const graph::Node& node = lowering.node(norm);
  const NormShape shape = norm_shape(result, result.layout.dtype, node.inputs[0], lowering);
  const ResultMoments sums{
      .partial = lowering.scratch(node.name + "/partial", partial_bytes(shape, lowering.threads())),
      .pivot = lowering.parameter(node, "running_mean")};
  lowering.moments(node.inputs[0]) = sums.partial;
  ++lowering.plan.fused["norm_moments"];
  return sums;
}

}  // namespace roentgen::engine::cpu
