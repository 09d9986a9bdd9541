// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/choice/norm_roles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <variant>

#include "engine/cpu/pool/pooling.h"
#include "graph/passes/rewrite.h"

namespace roentgen::engine::cpu {
namespace {

// Inputs from which the roles of batch norms are derived.
struct Given {
  const graph::Graph& graph;
  const ConvChoices& choices;
  const graph::Fusions& fusions;
  Layout layout;
  std::vector<std::vector<graph::NodeId>> readers = graph.consumers();

  // The only reader of a value; -1 if there are several or none.
  [[nodiscard]] graph::NodeId only_reader(graph::NodeId id) const {
    const std::vector<graph::NodeId>& all = readers[static_cast<std::size_t>(id)];
    return all.size() == 1 ? all[0] : -1;
  }
  // Algorithm of a convolution's pass; nullopt for another node.
  [[nodiscard]] std::optional<ConvAlgorithm> chosen(graph::NodeId id, ConvPass pass) const {
    return id < 0 ? std::nullopt : choices.find(id, pass);
  }
  // True if our matrix-product kernels compute the convolution's pass in the number type of the step. Kernels of
  // another number type would read a rounded copy of the values, so that sums of the batch norm would differ.
  [[nodiscard]] bool is_by_products(graph::NodeId id, ConvPass pass) const {
    const std::optional<ConvAlgorithm> algorithm = chosen(id, pass);
    return algorithm && *algorithm != ConvAlgorithm::Direct && !is_winograd(*algorithm) &&
           dtype_of(*algorithm) == layout.dtype;
  }
  // True if the reader's kernels can normalise their input in the step's type.
  [[nodiscard]] bool normalises(graph::NodeId reader) const {
    if (reader < 0) return false;
    // False for poolings in bf16: two values that differ before rounding may be equal after it.
    const auto* pool = std::get_if<graph::MaxPool>(&graph.node(reader).op);
    if (pool != nullptr) return pools_normalised(*pool) && layout.dtype == DType::F32;
    return std::ranges::all_of(std::array{ConvPass::Forward, ConvPass::BackwardWeights}, [&](ConvPass pass) {
      const std::optional<ConvAlgorithm> algorithm = chosen(reader, pass);
      return algorithm && *algorithm != ConvAlgorithm::Direct && dtype_of(*algorithm) == layout.dtype;
    });
  }
};

bool is_pointwise(const graph::Conv2d& op) {
  const auto is = [](const graph::Extent& extent, std::int64_t size) {
    return extent.height == size && extent.width == size;
  };
  return is(op.kernel, 1) && is(op.stride, 1) && is(op.pad, 0);
}

// True if kernels can read a piece (an input of a virtual concatenation, or a single value) in place. It needs whole
// blocks of channels, and a type that needs no rounding.
bool is_readable(graph::NodeId piece, bool is_shared, const Given& given) {
  if (given.graph.node(piece).shape[1] % given.layout.block != 0) return false;
  if (given.layout.dtype == DType::F32 || is_shared) return true;
  const std::optional<ConvAlgorithm> algorithm = given.chosen(piece, ConvPass::Forward);
  return algorithm && dtype_of(*algorithm) == given.layout.dtype;
}

NormRole role_of(graph::NodeId id, const std::vector<graph::NodeId>& pieces, bool is_shared, const Given& given) {
  const graph::Node& node = given.graph.node(id);
  NormRole role{.is_shared = is_shared && node.inputs.size() == 1};
  const graph::NodeId source = node.inputs[0], reader = given.only_reader(id);
  if (given.fusions.norm_moments && given.only_reader(source) == id &&
      given.is_by_products(source, ConvPass::Forward)) {
    role.moments_by = source;
  }
  // A pooling over several pieces is not supported, since no network has one.
  const bool is_pooled = reader >= 0 && std::holds_alternative<graph::MaxPool>(given.graph.node(reader).op);
  if (given.fusions.normalised_input && node.inputs.size() == 1 && given.normalises(reader) &&
      !graph::is_output(given.graph, id) && !(is_pooled && pieces.size() > 1) &&
      std::ranges::all_of(pieces, [&](graph::NodeId piece) { return is_readable(piece, is_shared, given); })) {
    role.result_by = reader;
  }
  // Fuses the gradient only for values that several batch norms share. For a single batch norm nothing is gained: its
  // second phase finds everything in cache (docs/design/engine_cpu.md).
  if (given.fusions.norm_gradient && role.is_shared && role.result_by >= 0 &&
      given.is_by_products(reader, ConvPass::BackwardData) &&
      is_pointwise(std::get<graph::Conv2d>(given.graph.node(reader).op))) {
    role.gradient_by = reader;
  }
  return role;
}

}  // namespace

std::string NormRole::text(const graph::Graph& graph) const {
  std::vector<std::string> parts;
  if (is_shared) parts.emplace_back("statistics shared");
  for (const auto& [what, who] :
       {std::pair("moments", moments_by), std::pair("result", result_by), std::pair("gradient", gradient_by)}) {
    if (who >= 0) parts.push_back(fmt::format("{} by {}", what, graph.node(who).name));
  }
  return parts.empty() ? "own" : fmt::format("{}", fmt::join(parts, ", "));
}

NormRoles::NormRoles(const graph::Graph& graph, const ConvChoices& choices, const graph::Fusions& fusions,
                     const VirtualConcats& concats, Layout vector_layout)
    : NormRoles(graph) {
  const Given given{.graph = graph, .choices = choices, .fusions = fusions, .layout = vector_layout};
  for (std::size_t i = 0; i < roles_.size(); ++i) {
    const graph::Node& node = graph.nodes()[i];
    if (!std::holds_alternative<graph::BatchNorm>(node.op)) continue;
    const graph::NodeId source = node.inputs[0];
    const bool is_shared = concats.is_virtual(source) || concats.is_piece(source);
    roles_[i] = role_of(static_cast<graph::NodeId>(i), concats.pieces(source), is_shared, given);
  }
}

}  // namespace roentgen::engine::cpu
