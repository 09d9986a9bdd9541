// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/plan/lowering.h"

#include <utility>
#include <variant>

#include "engine/cpu/choice/conv_choice.h"
#include "engine/cpu/elementwise/elementwise.h"
#include "engine/cpu/plan/kernel_scratch.h"
#include "engine/cpu/plan/primitive.h"
#include "engine/cpu/simd/isa.h"
#include "graph/visit_op.h"

namespace roentgen::engine::cpu {

Lowering::Lowering(const graph::Graph& graph, const CompileOptions& options, int threads)
    : PlanBuilder(graph, options, {.channel_block = simd::vector_block(), .replicas = threads}),
      vector_block_(simd::vector_block()),
      choices_(graph, options, dtype(), is_computed(), values_with_gradients(), plan),
      roles_(graph) {
  plan.choice_revision = kChoiceRevision;
  if (!is_training()) return;
  const graph::Fusions fusions = graph::fusions_of(options.fuse, purpose_of(options.form));
  roles_ = NormRoles(graph, choices_, fusions, concats(), vector_layout());
  for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
    const graph::Node& node = graph.nodes()[i];
    if (!std::holds_alternative<graph::BatchNorm>(node.op)) continue;
    plan.norm_roles[node.name] = role(static_cast<graph::NodeId>(i)).text(graph);
  }
}

void Lowering::define_normalised(graph::NodeId id, Prologue input) {
  define_nowhere(id);
  normalised_[id] = std::move(input);
}

const Prologue* Lowering::normalised(graph::NodeId id) const {
  const auto found = normalised_.find(id);
  return found == normalised_.end() ? nullptr : &found->second;
}

std::size_t Lowering::replica_alignment(std::size_t bytes) const { return ThreadsMemory::of(bytes).page_bytes; }

void Lowering::add_forward(graph::NodeId id) {
  graph::visit_op(node(id).op, [&](const auto& op) { lower(op, id, *this); });
}

void Lowering::add_backward(graph::NodeId id) {
  graph::visit_op(node(id).op, [&](const auto& op) { lower_backward(op, id, *this); });
}

Located Lowering::add_again(graph::NodeId id) {
  const auto* norm = std::get_if<graph::BatchNorm>(&node(id).op);
  return norm != nullptr ? lower_again(*norm, id, *this) : lower_again(std::get<graph::Concat>(node(id).op), id, *this);
}

Located Lowering::finish_shared_norm(graph::NodeId id) { return finish_norm(id, *this); }

NamedKernel Lowering::copy(TensorId from, TensorId to, std::int64_t count) {
  return {copy_kernel(from, to, count), "copy"};
}
NamedKernel Lowering::reorder(const Located& from, const Located& to) { return {reorder_kernel(from, to), "reorder"}; }
NamedKernel Lowering::convert(const Located& from, const Located& to) { return {convert_kernel(from, to), "simd"}; }
NamedKernel Lowering::sum(const std::vector<TensorId>& terms, const Located& sum) {
  return {sum_kernel(terms, sum), "simd"};
}
NamedKernel Lowering::normalise(const Located& from, const Located& to, const std::vector<PixelScale>& scales) {
  return {normalise_kernel(from, to, scales), "planes"};
}

}  // namespace roentgen::engine::cpu
