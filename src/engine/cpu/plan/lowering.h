// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Lowering: turns a graph into plan entries with kernels. Each op's file (conv2d.cpp, ...) says which entries its
// forward and backward are; this class keeps what they share: where values lie, which gradients have arrived, what is
// recomputed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/cpu/choice/conv_choices.h"
#include "engine/cpu/choice/norm_roles.h"
#include "engine/cpu/conv/conv_tensors.h"
#include "engine/cpu/norm/batch_norm_kernels.h"
#include "engine/engine.h"
#include "engine/plan/kernel.h"
#include "engine/plan/layout.h"
#include "engine/plan/parameter_layout.h"
#include "engine/plan/recompute.h"

namespace roentgen::engine::cpu {

/// One entry to be added, without its kernel.
struct Emission {
  /// Added to the node's name: "layer1.0.conv1/<what>".
  std::string what;
  /// Row of the profile: "conv2d".
  std::string kind;
  Pass pass = Pass::Forward;
  std::vector<TensorId> reads;
  std::vector<TensorId> writes;
  std::string implementation;
  std::int64_t flops = 0;
  /// (read, written): the kernel may write `second` over `first` when nothing reads `first` any more.
  std::vector<std::pair<TensorId, TensorId>> in_place;
};

/// Statistics and gradient sums of a value that several batch norms read (DenseNet's segments): computed once, shared.
struct SharedNorm {
  /// mean[C], istd[C] (padded), f32.
  TensorId statistics = -1;
  /// Sum over the readers of scale_k * g_k, laid out as the value; -1 before the first reader's backward.
  TensorId gradient = -1;
  /// A[C] = sum of scale_k mean(g_k), B[C] = sum of scale_k mean(g_k xhat), f32.
  TensorId sums = -1;
};

/// What changes from step to step and kernels may read.
struct StepState {
  std::int64_t step = 0;
};

/// Working state of one compile. One thread; discarded afterwards.
class Lowering {
 public:
  Lowering(const graph::Graph& graph, const CompileOptions& options, int threads);

  /// Lowers every node: forward, outputs, then backward.
  void lower_all();

  // What the graph and options say.
  [[nodiscard]] const graph::Graph& graph() const { return graph_; }
  [[nodiscard]] const CompileOptions& options() const { return options_; }
  [[nodiscard]] bool is_training() const { return options_.form == Form::Training; }
  [[nodiscard]] int threads() const { return threads_; }
  /// Block that vectors of this machine fill: 16 with AVX-512, else 8.
  [[nodiscard]] int vector_block() const { return vector_block_; }
  /// What values are stored in by the ops that can: F32 or Bf16. Parameters, their gradients and sums are f32.
  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] const std::vector<graph::NodeId>& readers(graph::NodeId id) const;
  /// The node that computes this convolution or linear layer together with itself, in its own place: the one marked
  /// `folded` that alone reads it. -1: none, as always in training.
  [[nodiscard]] graph::NodeId folded_into(graph::NodeId id) const;
  [[nodiscard]] const StepState* step_state() const { return step_state_.get(); }
  /// The algorithm of a convolution's pass.
  [[nodiscard]] ConvAlgorithm algorithm(graph::NodeId id, ConvPass pass) const { return choices_.of(id, pass); }
  /// Role of a batch norm: parts of it that other kernels compute.
  [[nodiscard]] const NormRole& role(graph::NodeId id) const { return roles_.of(id); }

  // Values.
  /// Where a value lies; for a virtual concat use pieces().
  [[nodiscard]] const Located& value(graph::NodeId id) const;
  /// The stored values a value consists of: itself, or the inputs of a virtual concat, flattened.
  [[nodiscard]] const std::vector<graph::NodeId>& pieces(graph::NodeId id) const { return roles_.pieces(id); }
  /// Makes the tensor of a node's output.
  const Located& define(graph::NodeId id, Layout layout);
  /// The node's output is this tensor (reshapes, dropout at inference).
  void define_as(graph::NodeId id, const Located& located);
  /// The node's output is stored nowhere: a virtual concat.
  [[nodiscard]] bool is_virtual(graph::NodeId id) const { return roles_.is_virtual(id); }
  /// A batch norm's output is stored nowhere: the convolution or max pooling that alone reads it normalises these
  /// values itself.
  void define_normalised(graph::NodeId id, Prologue input);
  /// That, or nothing.
  [[nodiscard]] const std::optional<Prologue>& normalised(graph::NodeId id) const { return state(id).normalised; }
  /// A convolution's forward adds up moments for the batch norm that reads it.
  void define_moments(graph::NodeId id, TensorId partial) { state(id).moments = partial; }
  /// Where to (ResultMoments::partial), or -1.
  [[nodiscard]] TensorId moments(graph::NodeId id) const { return state(id).moments; }
  /// The value in a layout: itself, or a reordered copy made once.
  Located value_in(graph::NodeId id, Layout layout);
  /// The value where it lies, or a copy of it in f32.
  Located value_f32(graph::NodeId id);
  /// The copy of `from` in a layout, through entries that reorder and convert.
  Located reordered(const graph::Node& node, const Located& from, Layout layout);

  // Tensors.
  TensorId tensor(std::string name, const Shape& shape, Layout layout);
  TensorId scratch(std::string name, std::size_t bytes);
  /// Scratch of `bytes` for each thread.
  TensorId own_scratch(std::string name, std::size_t bytes);
  /// Memory that keeps its values between steps.
  TensorId kept(std::string name, std::size_t bytes);
  /// A node's parameter, its gradient, by relative name ("weight"). State (running statistics) likewise.
  TensorId parameter(const graph::Node& node, std::string_view name);
  TensorId parameter_gradient(const graph::Node& node, std::string_view name);
  /// A parameter's kernel form.
  [[nodiscard]] std::shared_ptr<const ParameterLayout> layout_of_parameter(const graph::Node& node,
                                                                           std::string_view name) const;
  /// Sets a parameter's kernel form; before that it is a plain vector.
  void set_layout(const graph::Node& node, std::string_view name, std::unique_ptr<ParameterLayout> layout);

  // Entries.
  void emit(const graph::Node& node, Emission emission, std::unique_ptr<Kernel> kernel);
  /// An entry that runs once after parameters were loaded. Reads parameters and state, writes kept memory.
  void emit_preparation(const graph::Node& node, Emission emission, std::unique_ptr<Kernel> kernel);

  // Backward.
  /// True when a gradient must reach this value: something trained lies before it.
  [[nodiscard]] bool needs_gradient(graph::NodeId id) const { return needs_gradient_.at(static_cast<std::size_t>(id)); }
  /// Hands a gradient over to a value.
  void contribute(graph::NodeId id, const Located& gradient);
  /// All gradients that have arrived, in the given layout, unsummed.
  std::vector<Located> gradients(graph::NodeId id, Layout layout);
  /// The sum of all gradients that have arrived, in the given layout; also closes a SharedNorm.
  Located gradient(graph::NodeId id, Layout layout);
  /// True when any gradient has arrived.
  [[nodiscard]] bool has_gradient(graph::NodeId id) const;
  /// Shared statistics of a piece, made on first use by `make`.
  SharedNorm& shared_norm(graph::NodeId piece) { return shared_norms_[piece]; }
  /// Statistics of a batch norm that shares them with nobody.
  TensorId& own_statistics(graph::NodeId id) { return own_statistics_[id]; }
  /// What an op's forward keeps for its own backward beside values (a max pool's positions); -1 = nothing.
  void set_workspace(graph::NodeId id, TensorId tensor) { workspaces_[id] = tensor; }
  [[nodiscard]] TensorId workspace(graph::NodeId id) const {
    const auto found = workspaces_.find(id);
    return found == workspaces_.end() ? -1 : found->second;
  }
  /// True when batch norms share this value's statistics: it is a piece of a virtual concat.
  [[nodiscard]] bool is_shared_piece(graph::NodeId id) const { return roles_.is_piece(id); }

  /// The value was dropped after forward, and is not there again yet.
  [[nodiscard]] bool is_missing(graph::NodeId id) const;
  /// Something waits for the missing value.
  [[nodiscard]] bool is_awaited(graph::NodeId id) const { return !state(id).waiting.empty(); }
  /// Runs `emit_later` once the value is there: at once, unless its own backward will write it.
  void when_available(graph::NodeId id, std::function<void()> emit_later);
  /// In backward, the value in a layout, computed again first where it is missing and nothing else will.
  Located value_again(graph::NodeId id, Layout layout);
  /// The value lies here again; runs what waited for it.
  void recomputed(graph::NodeId id, const Located& located);

  // Results, taken by the executable.
  Plan plan;
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::vector<std::unique_ptr<Kernel>> preparation_kernels;
  /// Per graph parameter: its tensor, gradient tensor (-1 without) and layout.
  struct ParameterPlace {
    TensorId tensor = -1;
    TensorId gradient = -1;
    std::shared_ptr<const ParameterLayout> layout;
  };
  std::vector<ParameterPlace> places;
  /// Graph inputs in order, and outputs by name.
  std::vector<std::pair<graph::NodeId, TensorId>> input_tensors;
  std::vector<std::pair<std::string, TensorId>> output_tensors;
  /// (entry, read, written) that may share memory.
  struct InPlace {
    std::int32_t entry;
    TensorId source;
    TensorId target;
  };
  std::vector<InPlace> in_place;
  std::unique_ptr<StepState> take_step_state() { return std::move(step_state_); }

 private:
  struct ValueState {
    Located located;
    std::optional<Prologue> normalised;
    TensorId moments = -1;
    std::vector<Located> copies;
    std::vector<Located> gradients;
    std::vector<std::function<void()>> waiting;
    /// How backward comes by it, and whether it has.
    Source source = Source::Kept;
    bool is_again = false;
  };
  Located converted(const graph::Node& node, const Located& from, DType dtype);
  void compute_again(graph::NodeId id);
  void lower_outputs();
  [[nodiscard]] PlanEntry entry_of(const graph::Node& node, Emission& emission) const;
  void lower_backward_all();
  std::int32_t parameter_index(const graph::Node& node, std::string_view name) const;
  ValueState& state(graph::NodeId id) { return values_.at(static_cast<std::size_t>(id)); }
  [[nodiscard]] const ValueState& state(graph::NodeId id) const { return values_.at(static_cast<std::size_t>(id)); }
  TensorId add_tensor(PlanTensor tensor);

  const graph::Graph& graph_;
  const CompileOptions& options_;
  int threads_;
  int vector_block_;
  DType dtype_;
  std::vector<bool> is_lowered_;
  std::vector<bool> needs_gradient_;
  ConvChoices choices_;
  NormRoles roles_;
  std::vector<std::vector<graph::NodeId>> readers_;
  std::vector<ValueState> values_;
  std::map<graph::NodeId, SharedNorm> shared_norms_;
  std::map<graph::NodeId, TensorId> own_statistics_;
  std::map<graph::NodeId, TensorId> workspaces_;
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
/// Closes the shared gradient of a value: diff = istd * (G - A - B xhat). In batch_norm_gradient.cpp.
Located finish_shared_norm(graph::NodeId id, Lowering& lowering);
/// The backward of a batch norm for the entry of a reader's data gradient, the last gradient that comes to it
/// (NormRole::gradient_by). In batch_norm_gradient.cpp.
[[nodiscard]] FusedNormBackward fuse_norm_backward(graph::NodeId id, Lowering& lowering, Emission& emission);

}  // namespace roentgen::engine::cpu
