// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// PlanBuilder: turns a graph into plan entries with kernels. Each engine derives a class that adds the entries of each
// op's forward and backward. This base class keeps the common state: tensors of values, gradients received so far, and
// values to recompute.
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

/// A plan entry to be added, without its kernel.
struct Emission {
  /// Suffix of the entry's name "<node>/<what>", such as "forward".
  std::string what;
  /// Kind of kernel, which is the row of the profile, such as "conv2d".
  std::string kind;
  Pass pass = Pass::Forward;
  std::vector<TensorId> reads;
  std::vector<TensorId> writes;
  std::string implementation;
  std::int64_t flops = 0;
  /// Pairs (read, written): the kernel may write `second` into the memory of `first` if no later entry reads `first`.
  std::vector<std::pair<TensorId, TensorId>> in_place;
};

/// Statistics and gradient sums of a value that several batch norms read, such as a DenseNet segment. They are computed
/// once for all of them.
struct SharedNorm {
  /// mean[C] and istd[C] (inverse standard deviation), padded, f32.
  TensorId statistics = -1;
  /// Sum over all reading batch norms k of scale_k * g_k, in the layout of the value; -1 before the backward of the
  /// first.
  TensorId gradient = -1;
  /// A[C] = sum of scale_k mean(g_k), B[C] = sum of scale_k mean(g_k xhat), f32.
  TensorId sums = -1;
};

/// A kernel and the name of its implementation in the plan.
struct NamedKernel {
  std::unique_ptr<Kernel> kernel;
  std::string implementation;
};

/// Properties of an engine that the plan depends on.
struct EngineTraits {
  /// Number of channels that kernels process together. Inputs of virtual concatenations have a multiple of it.
  int channel_block = 1;
  /// Number of replicas of the workspace, one per thread.
  int replicas = 1;
  /// True if the backward kernel of a batch norm also recomputes its forward result. False: a separate entry recomputes
  /// it.
  bool writes_in_backward = true;
  /// True if inference computes in CompileOptions::dtype. False: always in f32.
  bool infers_in_other_types = false;
};

/// State of one compile() while it builds the plan. One thread; discarded afterwards.
class PlanBuilder {
 public:
  PlanBuilder(const graph::Graph& graph, const CompileOptions& options, EngineTraits traits);
  virtual ~PlanBuilder() = default;
  PlanBuilder(const PlanBuilder&) = delete;
  PlanBuilder& operator=(const PlanBuilder&) = delete;

  /// Adds the entries of all nodes: forward, outputs, then backward. Throws ConfigError if CompileOptions::choices has
  /// a choice that this plan lacks.
  void build();

  // The graph and options.
  [[nodiscard]] const graph::Graph& graph() const { return graph_; }
  [[nodiscard]] const graph::Node& node(graph::NodeId id) const { return graph_.node(id); }
  [[nodiscard]] const CompileOptions& options() const { return options_; }
  [[nodiscard]] bool is_training() const { return options_.form == Form::Training; }
  /// Type in which ops store values if they can: F32, Bf16 or F16. Parameters, their gradients and sums are f32.
  [[nodiscard]] DType dtype() const { return type_.values; }
  /// True if products of f32 values may round their factors to TF32.
  [[nodiscard]] bool rounds_to_tf32() const { return type_.rounds_to_tf32; }
  [[nodiscard]] const std::vector<graph::NodeId>& readers(graph::NodeId id) const;
  /// Returns the node that computes this convolution or linear layer as part of its own kernel: its only reader, marked
  /// `folded`. Returns -1 if there is none, as always in training.
  [[nodiscard]] graph::NodeId folded_into(graph::NodeId id) const;
  /// Flag for each node: true if the plan computes it.
  [[nodiscard]] const std::vector<bool>& is_computed() const { return is_computed_; }
  /// Flag for each value: true if backward needs its gradient, because it lies between a trained parameter and the
  /// loss.
  [[nodiscard]] const std::vector<bool>& values_with_gradients() const { return needs_gradient_; }

  // Values.
  /// Tensor, shape and layout of a stored value. A virtual concatenation has none: see pieces().
  [[nodiscard]] const Located& value(graph::NodeId id) const;
  [[nodiscard]] const VirtualConcats& concats() const { return concats_; }
  /// Stored values that make up a value: itself, or all inputs of a virtual concatenation, including nested ones.
  [[nodiscard]] const std::vector<graph::NodeId>& pieces(graph::NodeId id) const { return concats_.pieces(id); }
  /// True if the node is a virtual concatenation, whose output is not stored.
  [[nodiscard]] bool is_virtual(graph::NodeId id) const { return concats_.is_virtual(id); }
  /// True if batch norms share this value's statistics, because it is a piece of a virtual concatenation.
  [[nodiscard]] bool is_shared_piece(graph::NodeId id) const { return concats_.is_piece(id); }
  /// Creates the tensor of a node's output.
  const Located& define(graph::NodeId id, Layout layout);
  /// Uses an existing tensor as the node's output, as for reshapes and for dropout in inference.
  void define_as(graph::NodeId id, const Located& located) { state(id).located = located; }
  /// Declares that the node's output is not stored: its reader computes it, in backward too.
  void define_nowhere(graph::NodeId id) { state(id).source = Source::Kept; }
  /// Returns the value in a layout: itself, or a reordered copy that is made once.
  Located value_in(graph::NodeId id, Layout layout);
  /// Returns the value in f32: itself, or a converted copy.
  Located value_f32(graph::NodeId id) { return value_in(id, value(id).layout.as(DType::F32)); }
  /// Adds the entries that reorder or convert `from` to a layout, and returns the copy.
  Located reordered(const graph::Node& node, const Located& from, Layout layout);

  // Tensors.
  Located tensor(std::string name, const Shape& shape, Layout layout);
  /// Creates a tensor for a gradient of this value. Pass it to contribute() after adding the entries that write it.
  Located gradient_tensor(graph::NodeId id, Layout layout) {
    return tensor("d:" + node(id).name, node(id).shape, layout);
  }
  TensorId scratch(std::string name, std::size_t bytes);
  /// Creates scratch of `bytes` bytes in each replica of the workspace.
  TensorId replicated_scratch(std::string name, std::size_t bytes);
  /// Creates memory that keeps its values between steps.
  TensorId kept(std::string name, std::size_t bytes);
  /// Tensor of a node's parameter or running statistics, by the name within the node, such as "weight".
  TensorId parameter(const graph::Node& node, std::string_view name) { return place(node, name).tensor; }
  TensorId parameter_gradient(const graph::Node& node, std::string_view name) { return place(node, name).gradient; }
  /// Layout in which kernels read a parameter. Null before it is set, which means a plain vector.
  std::shared_ptr<const ParameterLayout>& parameter_layout(const graph::Node& node, std::string_view name) {
    return place(node, name).layout;
  }

  // Entries.
  void emit(const graph::Node& node, Emission emission, std::unique_ptr<Kernel> kernel);
  /// Adds the forward entry "<node>/forward" of an op that needs one kernel, of kind "<op>_forward", which writes
  /// `dst`. The kernel may write into the memory of `overwritten` if no later entry reads that memory; -1: not allowed.
  void emit_forward(graph::NodeId id, const std::string& op, std::vector<TensorId> reads, const Located& dst,
                    NamedKernel named, TensorId overwritten = -1);
  /// Adds the entry "<node>/backward" of an op that needs one kernel. It writes the gradient of the input and passes it
  /// to contribute().
  void emit_backward(graph::NodeId id, const std::string& op, std::vector<TensorId> reads, const Located& diff_src,
                     NamedKernel named, TensorId overwritten = -1);
  /// Adds an entry that runs once after parameters were loaded. It reads parameters and state and writes kept memory.
  void emit_preparation(const graph::Node& node, Emission emission, std::unique_ptr<Kernel> kernel);

  // Backward.
  /// True if backward needs the gradient of this value.
  [[nodiscard]] bool needs_gradient(graph::NodeId id) const { return needs_gradient_.at(static_cast<std::size_t>(id)); }
  /// Adds a gradient from one reader of a value to the value's gradients.
  void contribute(graph::NodeId id, const Located& gradient);
  /// Returns all gradients that contribute() has received for a value, in a layout, not summed.
  std::vector<Located> gradients(graph::NodeId id, Layout layout);
  /// Returns the sum of all gradients that contribute() has received for a value, in a layout. Includes the gradient of
  /// its SharedNorm, which must get no more contributions.
  Located gradient(graph::NodeId id, Layout layout);
  /// True if contribute() has received a gradient for this value.
  [[nodiscard]] bool has_gradient(graph::NodeId id) const { return !state(id).gradients.empty(); }
  /// Statistics of a piece (an input of a virtual concatenation), which all batch norms that read it share. The first
  /// of them fills them in.
  SharedNorm& shared_norm(graph::NodeId piece) { return shared_norms_[piece]; }
  /// Statistics of a batch norm that shares them with no other batch norm; -1 before they are set.
  TensorId& own_statistics(graph::NodeId id) { return state(id).statistics; }
  /// Extra tensor that an op's forward keeps for its backward, such as the positions of a max pool; -1 if none.
  TensorId& kept_by_forward(graph::NodeId id) { return state(id).kept_by_forward; }

  /// True if the value was dropped after forward and is not recomputed yet.
  [[nodiscard]] bool is_missing(graph::NodeId id) const;
  /// True if entries wait for this missing value.
  [[nodiscard]] bool is_awaited(graph::NodeId id) const { return !state(id).waiting.empty(); }
  /// Calls `emit_later` once the value is available: immediately, unless the value's own backward will recompute it.
  void when_available(graph::NodeId id, std::function<void()> emit_later);
  /// Adds entries that recompute the value in backward, if it is missing and no other entry will write it.
  void make_available(graph::NodeId id);
  /// Returns the value in a layout, for use in backward. Recomputes it first if it is missing and no other entry will
  /// write it.
  Located value_again(graph::NodeId id, Layout layout);
  /// Records the tensor of a recomputed value and adds the entries that waited for it.
  void recomputed(graph::NodeId id, const Located& located);

  // Results of build(), which the executable takes over.
  Plan plan;
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::vector<std::unique_ptr<Kernel>> preparation_kernels;
  /// Tensors of one graph parameter: values, gradient (-1 if it has none), and their layout.
  struct ParameterPlace {
    TensorId tensor = -1;
    TensorId gradient = -1;
    std::shared_ptr<const ParameterLayout> layout;
  };
  std::vector<ParameterPlace> places;
  /// Contents of the input slots, in graph order.
  std::vector<InputSpec> inputs;
  std::vector<TensorId> input_tensors;
  std::vector<std::pair<std::string, TensorId>> output_tensors;
  /// Permission for an entry to write `target` into the memory of `source`, which it reads.
  struct InPlace {
    std::int32_t entry;
    TensorId source;
    TensorId target;
  };
  std::vector<InPlace> in_place;

  /// Layout in which normalise() writes the values of an input. Default: plain f32.
  [[nodiscard]] virtual Layout input_layout(graph::NodeId) const { return {}; }
  /// Alignment in bytes of workspace replicas of at most `bytes` bytes each.
  [[nodiscard]] virtual std::size_t replica_alignment(std::size_t bytes) const = 0;

 protected:
  // Adds the entries of one node.
  virtual void add_forward(graph::NodeId id) = 0;
  virtual void add_backward(graph::NodeId id) = 0;
  /// Adds entries that recompute a dropped value from values available in backward, and returns its tensor.
  virtual Located add_again(graph::NodeId id) = 0;
  /// Adds the entry that completes the gradient of a value with shared statistics: diff = istd * (G - A - B xhat). G, A
  /// and B are those of SharedNorm.
  virtual Located finish_shared_norm(graph::NodeId id) = 0;
  // Kernels of entries that the builder adds.
  /// Makes the kernel that copies `count` floats.
  virtual NamedKernel copy(TensorId from, TensorId to, std::int64_t count) = 0;
  /// Makes the kernel that copies f32 values to another layout of the same shape and sets padding of `to` to zero.
  virtual NamedKernel reorder(const Located& from, const Located& to) = 0;
  /// Makes the kernel that copies values to another element type, in the same order.
  virtual NamedKernel convert(const Located& from, const Located& to) = 0;
  /// Makes the kernel that adds up `terms` in order, in f32. All have the layout of `sum`.
  virtual NamedKernel sum(const std::vector<TensorId>& terms, const Located& sum) = 0;
  /// Makes the kernel that computes to = from * scale + shift per channel, in f32. `from` holds the u8 or u16 pixels of
  /// a slot; `to` has input_layout(), and its padding becomes zero.
  virtual NamedKernel normalise(const Located& from, const Located& to, const std::vector<PixelScale>& scales) = 0;

 private:
  struct ValueState {
    Located located;
    std::vector<Located> copies;
    std::vector<Located> gradients;
    std::vector<std::function<void()>> waiting;
    TensorId statistics = -1;
    TensorId kept_by_forward = -1;
    /// How backward gets the value; `is_again` is true after the value was recomputed.
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
