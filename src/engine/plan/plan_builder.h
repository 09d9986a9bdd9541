// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// PlanBuilder: turns a graph into plan entries with kernels. An engine derives from it and defines the entries of each
// op's forward and backward. This class keeps the common state: places of values, gradients that have arrived, values
// to recompute.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/plan/kernel.h"
#include "engine/plan/layout.h"
#include "engine/plan/parameter_layout.h"
#include "engine/plan/recompute.h"
#include "engine/plan/virtual_concats.h"

namespace roentgen::engine {

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

/// A kernel, and its name in the plan.
struct NamedKernel {
  std::unique_ptr<Kernel> kernel;
  std::string implementation;
};

/// Properties of an engine that its plans depend on.
struct EngineTraits {
  /// Channels that kernels work on at a time: pieces of virtual concatenations have whole blocks of them.
  int channel_block = 1;
  /// Replicas of the workspace.
  int replicas = 1;
  /// Backwards of batch norms write their results again; else each that is needed takes an entry of its own.
  bool writes_in_backward = true;
  /// Inference computes in the type of CompileOptions::dtype. False: always in f32.
  bool infers_in_other_types = false;
};

/// Working state of one compile. One thread; discarded afterwards.
class PlanBuilder {
 public:
  PlanBuilder(const graph::Graph& graph, const CompileOptions& options, EngineTraits traits);
  virtual ~PlanBuilder() = default;
  PlanBuilder(const PlanBuilder&) = delete;
  PlanBuilder& operator=(const PlanBuilder&) = delete;

  /// Adds the entries of every node: forward, outputs, then backward. ConfigError when CompileOptions::choices has more
  /// than this plan.
  void build();

  // The graph and options.
  [[nodiscard]] const graph::Graph& graph() const { return graph_; }
  [[nodiscard]] const graph::Node& node(graph::NodeId id) const { return graph_.node(id); }
  [[nodiscard]] const CompileOptions& options() const { return options_; }
  [[nodiscard]] bool is_training() const { return options_.form == Form::Training; }
  /// Type that ops store values in where they can: F32, Bf16 or F16. Parameters, their gradients and sums are f32.
  [[nodiscard]] DType dtype() const { return type_.values; }
  /// Products of f32 may round their factors to TF32.
  [[nodiscard]] bool rounds_to_tf32() const { return type_.rounds_to_tf32; }
  [[nodiscard]] const std::vector<graph::NodeId>& readers(graph::NodeId id) const;
  /// The node that computes this convolution or linear layer together with itself, in its own place: the one marked
  /// `folded` that alone reads it. -1: none, as always in training.
  [[nodiscard]] graph::NodeId folded_into(graph::NodeId id) const;
  /// True for every node that the plan computes.
  [[nodiscard]] const std::vector<bool>& is_computed() const { return is_computed_; }
  /// True for every value that a gradient must reach: a trained parameter lies before it, and the loss behind it.
  [[nodiscard]] const std::vector<bool>& values_with_gradients() const { return needs_gradient_; }

  // Values.
  /// Tensor, shape and layout of a stored value. A virtual concat has none: see pieces().
  [[nodiscard]] const Located& value(graph::NodeId id) const;
  [[nodiscard]] const VirtualConcats& concats() const { return concats_; }
  /// The stored values a value consists of: itself, or the inputs of a virtual concat, flattened.
  [[nodiscard]] const std::vector<graph::NodeId>& pieces(graph::NodeId id) const { return concats_.pieces(id); }
  /// The node's output is stored nowhere: a virtual concat.
  [[nodiscard]] bool is_virtual(graph::NodeId id) const { return concats_.is_virtual(id); }
  /// True when batch norms share this value's statistics: it is a piece of a virtual concat.
  [[nodiscard]] bool is_shared_piece(graph::NodeId id) const { return concats_.is_piece(id); }
  /// Makes the tensor of a node's output.
  const Located& define(graph::NodeId id, Layout layout);
  /// The node's output is this tensor (reshapes, dropout at inference).
  void define_as(graph::NodeId id, const Located& located) { state(id).located = located; }
  /// The node's output is stored nowhere: its reader computes it, in backward as well.
  void define_nowhere(graph::NodeId id) { state(id).source = Source::Kept; }
  /// The value in a layout: itself, or a reordered copy made once.
  Located value_in(graph::NodeId id, Layout layout);
  /// The value where it lies, or a copy of it in f32.
  Located value_f32(graph::NodeId id) { return value_in(id, value(id).layout.as(DType::F32)); }
  /// The copy of `from` in a layout, through entries that reorder and convert.
  Located reordered(const graph::Node& node, const Located& from, Layout layout);

  // Tensors.
  Located tensor(std::string name, const Shape& shape, Layout layout);
  /// The tensor of a gradient of this value. Hand it over with contribute().
  Located gradient_tensor(graph::NodeId id, Layout layout) {
    return tensor("d:" + node(id).name, node(id).shape, layout);
  }
  TensorId scratch(std::string name, std::size_t bytes);
  /// Scratch of `bytes` in each replica of the workspace.
  TensorId replicated_scratch(std::string name, std::size_t bytes);
  /// Memory that keeps its values between steps.
  TensorId kept(std::string name, std::size_t bytes);
  /// Tensor of a node's parameter or state (running statistics), by relative name ("weight").
  TensorId parameter(const graph::Node& node, std::string_view name) { return place(node, name).tensor; }
  TensorId parameter_gradient(const graph::Node& node, std::string_view name) { return place(node, name).gradient; }
  /// A parameter's kernel form: a plain vector before it is set.
  std::shared_ptr<const ParameterLayout>& parameter_layout(const graph::Node& node, std::string_view name) {
    return place(node, name).layout;
  }

  // Entries.
  void emit(const graph::Node& node, Emission emission, std::unique_ptr<Kernel> kernel);
  /// Emits the entry of an op that is one kernel: "<node>/forward" of the kind "<op>_forward" writes `dst`. It may
  /// write over `overwritten`, unless that is -1 or still needed.
  void emit_forward(graph::NodeId id, const std::string& op, std::vector<TensorId> reads, const Located& dst,
                    NamedKernel named, TensorId overwritten = -1);
  /// Emits the entry "<node>/backward" of an op that is one kernel: writes the gradient of the input and hands it over.
  void emit_backward(graph::NodeId id, const std::string& op, std::vector<TensorId> reads, const Located& diff_src,
                     NamedKernel named, TensorId overwritten = -1);
  /// An entry that runs once after parameters were loaded. Reads parameters and state, writes kept memory.
  void emit_preparation(const graph::Node& node, Emission emission, std::unique_ptr<Kernel> kernel);

  // Backward.
  /// True when a gradient must reach this value.
  [[nodiscard]] bool needs_gradient(graph::NodeId id) const { return needs_gradient_.at(static_cast<std::size_t>(id)); }
  /// Hands a gradient over to a value.
  void contribute(graph::NodeId id, const Located& gradient);
  /// All gradients that have arrived, in the given layout, unsummed.
  std::vector<Located> gradients(graph::NodeId id, Layout layout);
  /// The sum of all gradients that have arrived, in the given layout; also closes a SharedNorm.
  Located gradient(graph::NodeId id, Layout layout);
  /// True when any gradient has arrived.
  [[nodiscard]] bool has_gradient(graph::NodeId id) const { return !state(id).gradients.empty(); }
  /// Shared statistics of a piece, to be filled in on first use.
  SharedNorm& shared_norm(graph::NodeId piece) { return shared_norms_[piece]; }
  /// Statistics of a batch norm that shares them with nobody; -1 before they are set.
  TensorId& own_statistics(graph::NodeId id) { return state(id).statistics; }
  /// Tensor that an op's forward keeps for its backward beside values (a max pool's positions); -1: none.
  TensorId& kept_by_forward(graph::NodeId id) { return state(id).kept_by_forward; }

  /// True for a value that was dropped after forward and not recomputed yet.
  [[nodiscard]] bool is_missing(graph::NodeId id) const;
  /// True if something waits for the missing value.
  [[nodiscard]] bool is_awaited(graph::NodeId id) const { return !state(id).waiting.empty(); }
  /// Runs `emit_later` once the value is there: at once, unless its own backward will write it.
  void when_available(graph::NodeId id, std::function<void()> emit_later);
  /// Recomputes the value in backward, if it is missing and nothing else will.
  void make_available(graph::NodeId id);
  /// Value in a layout in backward; recomputed first if it is missing and nothing else will.
  Located value_again(graph::NodeId id, Layout layout);
  /// Records where the recomputed value lies, and runs the entries that waited for it.
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
  /// Contents of the slots of the graph's inputs, in graph order; the tensor of each; and outputs by name.
  std::vector<InputSpec> inputs;
  std::vector<TensorId> input_tensors;
  std::vector<std::pair<std::string, TensorId>> output_tensors;
  /// (entry, read, written) that may share memory.
  struct InPlace {
    std::int32_t entry;
    TensorId source;
    TensorId target;
  };
  std::vector<InPlace> in_place;

  /// Layout in which normalise() makes values of an input's pixels. Default: plain f32.
  [[nodiscard]] virtual Layout input_layout(graph::NodeId) const { return {}; }
  /// Alignment of replicas of the workspace that have at most `bytes`.
  [[nodiscard]] virtual std::size_t replica_alignment(std::size_t bytes) const = 0;

 protected:
  // Entries of one node.
  virtual void add_forward(graph::NodeId id) = 0;
  virtual void add_backward(graph::NodeId id) = 0;
  /// Entries that compute a dropped value again from what backward has; it lies in the result.
  virtual Located add_again(graph::NodeId id) = 0;
  /// Closes the shared gradient of a value: diff = istd * (G - A - B xhat).
  virtual Located finish_shared_norm(graph::NodeId id) = 0;
  // Kernels of entries that the builder adds.
  /// to = from, `count` floats.
  virtual NamedKernel copy(TensorId from, TensorId to, std::int64_t count) = 0;
  /// to = from in another layout of the same shape and type f32; padding of `to` becomes zero.
  virtual NamedKernel reorder(const Located& from, const Located& to) = 0;
  /// to = from with the other type of elements, in the same order.
  virtual NamedKernel convert(const Located& from, const Located& to) = 0;
  /// sum = sum of `terms`, all laid out as it, added in order in f32.
  virtual NamedKernel sum(const std::vector<TensorId>& terms, const Located& sum) = 0;
  /// to = from * scale + shift by channels, computed in f32: pixels of a slot, plain u8 or u16, become values in
  /// input_layout(), whose padding becomes zero.
  virtual NamedKernel normalise(const Located& from, const Located& to, const std::vector<PixelScale>& scales) = 0;

 private:
  struct ValueState {
    Located located;
    std::vector<Located> copies;
    std::vector<Located> gradients;
    std::vector<std::function<void()>> waiting;
    TensorId statistics = -1;
    TensorId kept_by_forward = -1;
    /// Source of the value in backward, and whether it was recomputed.
    Source source = Source::Kept;
    bool is_again = false;
  };
  void add_input(graph::NodeId id);
  void add_outputs();
  void add_backward_all();
  void check_choices() const;
  void emit(const graph::Node& node, Emission emission, NamedKernel named);
  Located copy_of(const graph::Node& node, const Located& from, Layout layout);
  [[nodiscard]] PlanEntry entry_of(const graph::Node& node, Emission& emission) const;
  ParameterPlace& place(const graph::Node& node, std::string_view name);
  ValueState& state(graph::NodeId id) { return values_.at(static_cast<std::size_t>(id)); }
  [[nodiscard]] const ValueState& state(graph::NodeId id) const { return values_.at(static_cast<std::size_t>(id)); }
  TensorId add_tensor(PlanTensor tensor);

  const graph::Graph& graph_;
  const CompileOptions& options_;
  ComputeType type_;
  std::vector<bool> is_computed_;
  std::vector<bool> needs_gradient_;
  VirtualConcats concats_;
  std::vector<std::vector<graph::NodeId>> readers_;
  std::vector<ValueState> values_;
  std::map<graph::NodeId, SharedNorm> shared_norms_;
};

}  // namespace roentgen::engine
