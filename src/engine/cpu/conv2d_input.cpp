// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/conv2d_input.h"

#include <algorithm>

#include "engine/cpu/batch_norm_entries.h"
#include "engine/cpu/conv2d_algorithm.h"

namespace roentgen::engine::cpu {
namespace {

// The blocks that an algorithm's kernels normalise while they read; 0: they do not.
int block_of(ConvAlgorithm algorithm, const Lowering& lowering) {
  if (algorithm == ConvAlgorithm::Direct) return 0;
  return algorithm == ConvAlgorithm::Winograd ? lowering.vector_block() : static_cast<int>(kSplitBlock);
}

}  // namespace

bool is_normalised_by_reader(graph::NodeId norm, Layout values, Lowering& lowering) {
  const graph::Graph& graph = lowering.graph();
  if (!lowering.is_training() || graph.node(norm).inputs.size() != 1 || lowering.readers(norm).size() != 1)
    return false;
  if (std::ranges::any_of(graph.outputs(), [norm](const auto& output) { return output.second == norm; })) return false;
  const graph::Node& reader = graph.node(lowering.readers(norm)[0]);
  const auto* conv = std::get_if<graph::Conv2d>(&reader.op);
  if (conv == nullptr) return false;
  const ConvGeometry g = conv_geometry(*conv, reader, graph.node(norm).shape);
  const ConvAlgorithm forward = choose_algorithm(g, ConvPass::Forward, reader, lowering);
  const ConvAlgorithm weights = choose_algorithm(g, ConvPass::BackwardWeights, reader, lowering);
  const int block = block_of(forward, lowering);
  if (block == 0 || block_of(weights, lowering) != block || dtype_of(forward) != dtype_of(weights)) return false;
  // Whole blocks, as they lie; and a result that would not be rounded to another type in between.
  if (dtype_of(forward) != lowering.dtype() || values != Layout{block, dtype_of(forward)}) return false;
  return std::ranges::all_of(lowering.pieces(graph.node(norm).inputs[0]),
                             [&](graph::NodeId piece) { return graph.node(piece).shape[1] % block == 0; });
}

ConvSource conv_source(graph::NodeId value, Layout layout, Lowering& lowering) {
  ConvSource source;
  if (!lowering.normalised(value)) {
    source.src = lowering.value_in(value, layout).tensor;
    source.reads = {source.src};
    return source;
  }
  source.input = *lowering.normalised(value);
  for (const NormalisedInput::Piece& piece : source.input.pieces) source.reads.push_back(piece.value);
  source.reads.push_back(source.input.constants);
  return source;
}

bool adds_to_norm(graph::NodeId value, const ConvGeometry& g, ConvAlgorithm algorithm, const Lowering& lowering) {
  if (algorithm == ConvAlgorithm::Direct || algorithm == ConvAlgorithm::Winograd) return false;
  const graph::Node& node = lowering.graph().node(value);
  return lowering.normalised(value) && shares_statistics(node, lowering) && dtype_of(algorithm) == lowering.dtype() &&
         is_pointwise(split_shape(g, lowering.threads()).value());
}

}  // namespace roentgen::engine::cpu
