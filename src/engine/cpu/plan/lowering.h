// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Lowering: builds the plan entries of the CPU engine. Each op's file (conv2d.cpp, ...) defines its forward and
// backward entries. This class holds the choices of algorithms, and records the work that other kernels do for batch
// norms.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "engine/cpu/choice/conv_choices.h"
#include "engine/cpu/choice/norm_roles.h"
#include "engine/cpu/conv/conv_tensors.h"
#include "engine/cpu/norm/batch_norm_kernels.h"
#include "engine/plan/plan_builder.h"

namespace roentgen::engine::cpu {

/// Values that kernels read and that change from step to step.
struct StepState {
  std::int64_t step = 0;
};

/// State of one compile(). One thread uses it; it is discarded afterwards.
class Lowering final : public PlanBuilder {
 public:
  Lowering(const graph::Graph& graph, const CompileOptions& options, int threads);

  /// Number of compute threads.
  [[nodiscard]] int threads() const { return plan.replicas; }
  /// Number of channels in a block that fills this machine's vectors: 16 with AVX-512, else 8.
  [[nodiscard]] int vector_block() const { return vector_block_; }
  /// Layout of values in blocks of whole vectors, stored in dtype().
  [[nodiscard]] Layout vector_layout() const { return Layout::blocked(vector_block_, dtype()); }
  [[nodiscard]] const StepState* step_state() const { return step_state_.get(); }
  [[nodiscard]] std::unique_ptr<StepState> take_step_state() { return std::move(step_state_); }
  /// Algorithm of a convolution's pass.
  [[nodiscard]] ConvAlgorithm algorithm(graph::NodeId id, ConvPass pass) const { return choices_.of(id, pass); }
  /// Role of a batch norm: parts of it that other kernels compute.
  [[nodiscard]] const NormRole& role(graph::NodeId id) const { return roles_.of(id); }

  /// Records that a batch norm's output is never stored: its only reader, a convolution or max pooling, normalises
  /// these values itself.
  void define_normalised(graph::NodeId id, Prologue input);
  /// Values and constants that define_normalised() recorded for a batch norm; null for another node.
  [[nodiscard]] const Prologue* normalised(graph::NodeId id) const;
  /// Sums that a convolution's forward computes for the batch norm that reads it (ResultMoments::partial); -1: none.
  TensorId& moments(graph::NodeId id) { return moments_.try_emplace(id, -1).first->second; }

  [[nodiscard]] std::size_t replica_alignment(std::size_t bytes) const override;

 protected:
  void add_forward(graph::NodeId id) override;
  void add_backward(graph::NodeId id) override;
  Located add_again(graph::NodeId id) override;
  Located finish_shared_norm(graph::NodeId id) override;
  NamedKernel copy(TensorId from, TensorId to, std::int64_t count) override;
  NamedKernel reorder(const Located& from, const Located& to) override;
  NamedKernel convert(const Located& from, const Located& to) override;
  NamedKernel sum(const std::vector<TensorId>& terms, const Located& sum) override;
  NamedKernel normalise(const Located& from, const Located& to, const std::vector<PixelScale>& scales) override;

 private:
  int vector_block_;
  ConvChoices choices_;
  NormRoles roles_;
  std::map<graph::NodeId, Prologue> normalised_;
  std::map<graph::NodeId, TensorId> moments_;
  std::unique_ptr<StepState> step_state_ = std::make_unique<StepState>();
};

// Every op in graph/op_list.h defines these two functions in a source file named after the op. A missing one is a link
// error.
#define RG_LOWER(Op)                                                     \
  void lower(const graph::Op& op, graph::NodeId id, Lowering& lowering); \
  void lower_backward(const graph::Op& op, graph::NodeId id, Lowering& lowering);
RG_OP_LIST(RG_LOWER)
#undef RG_LOWER

/// Adds entries that recompute a dropped value in backward. Returns where the result is stored. Defined in
/// batch_norm.cpp and concat.cpp.
Located lower_again(const graph::BatchNorm& op, graph::NodeId id, Lowering& lowering);
Located lower_again(const graph::Concat& op, graph::NodeId id, Lowering& lowering);
/// Finishes the shared gradient of a value. Defined in batch_norm_gradient.cpp.
Located finish_norm(graph::NodeId id, Lowering& lowering);
/// Prepares the backward of a batch norm to run inside the data gradient of its last reader (NormRole::gradient_by).
/// Adds the tensors to the `emission` of that data gradient. Defined in batch_norm_gradient.cpp.
[[nodiscard]] FusedNormBackward fuse_norm_backward(graph::NodeId id, Lowering& lowering, Emission& emission);

}  // namespace roentgen::engine::cpu
