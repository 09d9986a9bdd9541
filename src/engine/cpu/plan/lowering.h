// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Lowering: plan entries of the CPU engine. Each op's file (conv2d.cpp, ...) defines the entries of its forward and
// backward. This class keeps the choices of algorithms and the work that kernels do for the batch norms around them.
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

/// Working state of one compile. One thread; discarded afterwards.
class Lowering final : public PlanBuilder {
 public:
  Lowering(const graph::Graph& graph, const CompileOptions& options, int threads);

  /// Compute threads.
  [[nodiscard]] int threads() const { return plan.replicas; }
  /// Block that vectors of this machine fill: 16 with AVX-512, else 8.
  [[nodiscard]] int vector_block() const { return vector_block_; }
  /// Layout of values in whole vectors, stored in dtype().
  [[nodiscard]] Layout vector_layout() const { return Layout::blocked(vector_block_, dtype()); }
  [[nodiscard]] const StepState* step_state() const { return step_state_.get(); }
  [[nodiscard]] std::unique_ptr<StepState> take_step_state() { return std::move(step_state_); }
  /// The algorithm of a convolution's pass.
  [[nodiscard]] ConvAlgorithm algorithm(graph::NodeId id, ConvPass pass) const { return choices_.of(id, pass); }
  /// Role of a batch norm: parts of it that other kernels compute.
  [[nodiscard]] const NormRole& role(graph::NodeId id) const { return roles_.of(id); }

  /// A batch norm's output is stored nowhere: the convolution or max pooling that alone reads it normalises these
  /// values itself.
  void define_normalised(graph::NodeId id, Prologue input);
  /// Values and constants of such a batch norm; null for another node.
  [[nodiscard]] const Prologue* normalised(graph::NodeId id) const;
  /// Sums that a convolution's forward makes for the batch norm that reads it (ResultMoments::partial); -1: none.
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

// Every op of the list has these two, in the file of its name. A missing one is a link error.
#define RG_LOWER(Op)                                                     \
  void lower(const graph::Op& op, graph::NodeId id, Lowering& lowering); \
  void lower_backward(const graph::Op& op, graph::NodeId id, Lowering& lowering);
RG_OP_LIST(RG_LOWER)
#undef RG_LOWER

/// Entries that compute a dropped value again from what backward has; it lies in the result. In batch_norm.cpp and
/// concat.cpp.
Located lower_again(const graph::BatchNorm& op, graph::NodeId id, Lowering& lowering);
Located lower_again(const graph::Concat& op, graph::NodeId id, Lowering& lowering);
/// Closes the shared gradient of a value. In batch_norm_gradient.cpp.
Located finish_norm(graph::NodeId id, Lowering& lowering);
/// The backward of a batch norm for the entry of a reader's data gradient, the last gradient that comes to it
/// (NormRole::gradient_by). In batch_norm_gradient.cpp.
[[nodiscard]] FusedNormBackward fuse_norm_backward(graph::NodeId id, Lowering& lowering, Emission& emission);

}  // namespace roentgen::engine::cpu
