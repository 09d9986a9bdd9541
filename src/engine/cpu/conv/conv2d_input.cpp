// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/conv/conv2d_input.h"

#include <algorithm>

#include "engine/cpu/choice/conv_choice.h"
#include "engine/cpu/conv/conv2d_algorithm.h"
#include "engine/cpu/norm/batch_norm_entries.h"
#include "engine/cpu/pool/pooling.h"

namespace roentgen::engine::cpu {
namespace {

// The blocks that an algorithm's kernels normalise while they read; 0: they do not.
int block_of(ConvAlgorithm algorithm, const Lowering& lowering) {
  if (algorithm == ConvAlgorithm::Direct) return 0;
  return is_winograd(algorithm) ? lowering.vector_block() : static_cast<int>(kSplitBlock);
}

bool is_by_products(ConvAlgorithm algorithm) { return algorithm != ConvAlgorithm::Direct && !is_winograd(algorithm); }

// The layout of values that kernels chosen for all that reads them in a step normalise while they read; blocks of 0:
// they do not.
Layout layout_normalised_by(const graph::Node& reader, const Shape& shape, Lowering& lowering) {
  const auto* pool = std::get_if<graph::MaxPool>(&reader.op);
  // In bf16 values that differ would be compared where their roundings are the same.
  if (pool != nullptr && pools_normalised(*pool) && lowering.dtype() == DType::F32) return {lowering.vector_block()};
  const auto* conv = std::get_if<graph::Conv2d>(&reader.op);
  if (conv == nullptr) return {.block = 0};
  const ConvGeometry g = conv_geometry(*conv, reader, shape);
  const ConvAlgorithm forward = choose_algorithm(g, ConvPass::Forward, reader, lowering);
  const ConvAlgorithm weights = choose_algorithm(g, ConvPass::BackwardWeights, reader, lowering);
  const int block = block_of(forward, lowering);
  if (block_of(weights, lowering) != block || dtype_of(forward) != dtype_of(weights)) return {.block = 0};
  return {block, dtype_of(forward)};
}

}  // namespace

bool is_normalised_by_reader(graph::NodeId norm, Layout values, Lowering& lowering) {
  const graph::Graph& graph = lowering.graph();
  if (!lowering.fusions().normalised_input || graph.node(norm).inputs.size() != 1 ||
      lowering.readers(norm).size() != 1) {
    return false;
  }
  if (std::ranges::any_of(graph.outputs(), [norm](const auto& output) { return output.second == norm; })) return false;
  const graph::Node& reader = graph.node(lowering.readers(norm)[0]);
  const Layout read = layout_normalised_by(reader, graph.node(norm).shape, lowering);
  // Whole blocks, as they lie; and a result that would not be rounded to another type in between.
  if (read.block == 0 || read.dtype != lowering.dtype() || values != read) return false;
  const std::vector<graph::NodeId> pieces = lowering.pieces(graph.node(norm).inputs[0]);
  // A pooling of several pieces: no network has one.
  if (pieces.size() > 1 && !std::holds_alternative<graph::Conv2d>(reader.op)) return false;
  return std::ranges::all_of(pieces, [&](graph::NodeId piece) { return graph.node(piece).shape[1] % read.block == 0; });
}

graph::NodeId summing_reader(graph::NodeId norm, Lowering& lowering) {
  const graph::Node& node = lowering.graph().node(norm);
  if (!lowering.fusions().residual_sum || lowering.dtype() != DType::F32 || node.inputs.size() != 2 ||
      lowering.readers(norm).empty()) {
    return -1;
  }
  const graph::NodeId first = lowering.readers(norm)[0];
  const graph::Node& reader = lowering.graph().node(first);
  const auto* conv = std::get_if<graph::Conv2d>(&reader.op);
  if (conv == nullptr) return -1;
  const ConvGeometry g = conv_geometry(*conv, reader, node.shape);
  const ConvAlgorithm forward = choose_algorithm(g, ConvPass::Forward, reader, lowering);
  const Layout layout{static_cast<int>(kSplitBlock), lowering.dtype()};
  const bool is_ours = is_by_products(forward) && dtype_of(forward) == lowering.dtype() &&
                       is_pointwise(split_shape(g, lowering.threads()).value());
  return is_ours && layout_of_value(node.inputs[0], lowering) == layout ? first : -1;
}

bool is_normalised_as_residual(graph::NodeId norm, Layout values, Lowering& lowering) {
  const graph::Graph& graph = lowering.graph();
  const graph::Node& node = graph.node(norm);
  if (node.inputs.size() != 1 || std::get<graph::BatchNorm>(node.op).relu || lowering.readers(norm).size() != 1 ||
      lowering.is_virtual(node.inputs[0])) {
    return false;
  }
  if (std::ranges::any_of(graph.outputs(), [norm](const auto& output) { return output.second == norm; })) return false;
  const graph::NodeId sum = lowering.readers(norm)[0];
  const graph::Node& reader = graph.node(sum);
  // A dropped sum is computed again from a residual that is stored. The layout of the sum's own value must be known.
  return std::holds_alternative<graph::BatchNorm>(reader.op) && reader.inputs[0] < norm && !lowering.is_dropped(sum) &&
         values == Layout{static_cast<int>(kSplitBlock), lowering.dtype()} && summing_reader(sum, lowering) >= 0;
}

ConvSource residual_sum(graph::NodeId conv, const Lowering& lowering) {
  ConvSource source{.input = lowering.residual_sum(conv).value()};
  const NormalisedInput::Residual& residual = source.input.residual.value();
  source.reads = {source.input.pieces[0].value, source.input.constants, residual.value};
  if (residual.constants >= 0) source.reads.push_back(residual.constants);
  return source;
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

bool gathers_moments(graph::NodeId id, ConvAlgorithm algorithm, const Lowering& lowering) {
  if (!lowering.fusions().norm_moments || !is_by_products(algorithm) || lowering.readers(id).size() != 1) return false;
  const graph::Node& reader = lowering.graph().node(lowering.readers(id)[0]);
  // A rounded copy would have other sums.
  return std::holds_alternative<graph::BatchNorm>(reader.op) && reader.inputs[0] == id &&
         dtype_of(algorithm) == lowering.dtype();
}

ResultMoments moments_for_norm(const Located& result, graph::NodeId id, Lowering& lowering) {
  const graph::Node& norm = lowering.graph().node(lowering.readers(id)[0]);
  const NormShape shape = norm_shape(result, result.layout.dtype, id, lowering);
  const ResultMoments sums{
      .partial = lowering.scratch(norm.name + "/partial", partial_bytes(shape, lowering.threads())),
      .pivot = lowering.parameter(norm, "running_mean")};
  lowering.define_moments(id, sums.partial);
  ++lowering.plan.fused["norm_moments"];
  return sums;
}

bool reads_gradient_of_norm(graph::NodeId id, Lowering& lowering) {
  const graph::Node& node = lowering.graph().node(id);
  const auto* conv = std::get_if<graph::Conv2d>(&node.op);
  if (conv == nullptr || lowering.readers(id).size() != 1) return false;
  const ConvGeometry g = conv_geometry(*conv, node, lowering.graph().node(node.inputs[0]).shape);
  const Layout layout{static_cast<int>(kSplitBlock), lowering.dtype()};
  if (!g.bias.empty() || layout_of_value(id, lowering) != layout) return false;
  const auto is_ours = [&](ConvPass pass) {
    const ConvAlgorithm algorithm = choose_algorithm(g, pass, node, lowering);
    return is_by_products(algorithm) && dtype_of(algorithm) == lowering.dtype();
  };
  return is_ours(ConvPass::BackwardWeights) &&
         (!lowering.needs_gradient(node.inputs[0]) || is_ours(ConvPass::BackwardData));
}

bool adds_to_norm(graph::NodeId value, const ConvGeometry& g, ConvAlgorithm algorithm, Lowering& lowering) {
  if (!lowering.fusions().norm_gradient || !is_by_products(algorithm)) return false;
  const graph::Node& node = lowering.graph().node(value);
  const SplitShape shape = split_shape(g, lowering.threads()).value();
  if (!std::holds_alternative<graph::BatchNorm>(node.op) || dtype_of(algorithm) != lowering.dtype()) return false;
  if (shares_statistics(node, lowering)) return lowering.normalised(value) && is_pointwise(shape);
  // Without a residual nothing else wants the masked gradient, and the batch norm's own second phase finds all in
  // cache; half as many bytes are read as fast by passes of their own (docs/adr/0014).
  if (node.inputs.size() != 2 || lowering.dtype() != DType::F32 || lowering.is_shared_piece(value)) return false;
  const std::size_t readers = lowering.readers(value).size();
  return is_unstrided(shape) && readers <= 2 && lowering.gradients_arrived(value) + 1 == readers &&
         !norm_shape({-1, node.shape, {}}, lowering.dtype(), value, lowering).is_over_ranks() &&
         reads_gradient_of_norm(node.inputs[0], lowering);
}

}  // namespace roentgen::engine::cpu
