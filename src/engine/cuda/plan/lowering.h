// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Lowering: builds the plan entries of the CUDA engine. Each op's file (conv2d.cpp, ...) defines its forward and
// backward entries. This class has what they share: the stream, the library of convolutions, and weights in the compute
// type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/cuda/conv/convolutions.h"
#include "engine/cuda/elementwise/flat.h"
#include "engine/plan/plan_builder.h"

namespace roentgen::engine::cuda {

/// Channels of images are padded with zeros to a multiple of this, so that kernels can use 16-byte accesses in every
/// type.
inline constexpr int kChannelBlock = 8;

/// Values of a step in device memory. Queued kernels, and recorded CUDA graphs, read them when they run.
struct StepState {
  std::int64_t step = 0;          ///< number of the step; part of the seed of dropout
  float scale = 1.0F;             ///< factor of an update's source: includes clipping, divided by the loss scale
  std::int32_t is_unsound = 0;    ///< 1 if a loss or norm since begin_update() was not finite
  double loss_scale = 1.0;        ///< factor of the loss's gradient; always 1 except in f16
  std::int64_t good_updates = 0;  ///< see LossScale
  std::int64_t skipped = 0;       ///< see LossScale
};

/// Device for which a plan is made.
struct DeviceView {
  runtime::Stream* stream = nullptr;  ///< stream for kernels; null if the plan never runs
  Convolutions& convolutions;         ///< plans of convolutions for the device
  int multiprocessors = 1;            ///< number of multiprocessors of the device; affects the order of sums
};

/// Constant tensor; the executable uploads its bytes once.
struct Constant {
  TensorId tensor = -1;
  std::vector<std::byte> bytes;
};

/// Batch norm of segments whose backward is delayed until the next norm that reads them (norm/shared_norm.h).
struct WaitingNorm {
  /// A segment (input of a concatenation) and its first channel in the batch norm.
  struct Part {
    graph::NodeId segment = -1;
    int begin = 0;
  };
  graph::NodeId id = -1;
  TensorId dy = -1;  ///< gradient of the norm's result
  std::vector<Part> parts;
};

/// State of one compile(). One thread uses it; it is discarded afterwards.
class Lowering final : public PlanBuilder {
 public:
  Lowering(const graph::Graph& graph, const CompileOptions& options, const DeviceView& device);

  /// Stream on which all kernels queue their work.
  [[nodiscard]] runtime::Stream* stream() const { return device_.stream; }
  [[nodiscard]] int multiprocessors() const { return device_.multiprocessors; }
  /// Layout of images: channels last, channels padded to kChannelBlock, elements of dtype().
  [[nodiscard]] Layout image_layout() const { return {Order::ChannelsLast, kChannelBlock, dtype()}; }
  /// Layout of an input's values: stem_image_layout() if a stem is its only reader, else image_layout().
  [[nodiscard]] Layout input_layout(graph::NodeId id) const override;
  /// Returns a 4-D value in image_layout().
  [[nodiscard]] Located image(graph::NodeId id) { return image(id, image_layout()); }
  /// Returns a 4-D value in the given channels-last layout.
  [[nodiscard]] Located image(graph::NodeId id, Layout layout);
  /// Returns the sum of the gradients of a 4-D value, in image_layout().
  [[nodiscard]] Located image_gradient(graph::NodeId id) { return gradient(id, image_layout()); }

  /// Parameter in the compute type. In f32 it is the parameter itself, otherwise a copy that is converted before each
  /// forward.
  [[nodiscard]] TensorId compute_weights(const graph::Node& node, std::string_view name);
  /// Creates a tensor in kept memory that holds these bytes.
  [[nodiscard]] TensorId constant(std::string name, std::vector<std::byte> bytes);
  /// Tensor that holds the StepState.
  [[nodiscard]] TensorId step_state() const { return step_state_; }
  /// True if the loss's gradient is scaled, so that gradients stored in f16 do not underflow.
  [[nodiscard]] bool has_loss_scale() const { return is_training() && dtype() == DType::F16; }
  /// Kernel of dst = op(a, b). All have the layout of dst; b is -1 if the operation has one operand.
  [[nodiscard]] NamedKernel flat(FlatOp op, TensorId a, TensorId b, const Located& dst) const;
  /// Returns the plan for a pass of a convolution and records it among the choices. A stored choice has priority. In
  /// training with Algorithms::Auto, ChoiceInputs::measured comes next, then the fastest plan. Otherwise it is the
  /// library's first plan. The fastest and the first plan are deterministic: they give the same bits on every run.
  [[nodiscard]] std::unique_ptr<ConvPlan> conv_plan(const graph::Node& node, const ConvProblem& problem);

  /// Batch norm whose backward is delayed. It has no parts if no backward is delayed.
  [[nodiscard]] WaitingNorm& waiting_norm() { return waiting_norm_; }

  /// Sets the memory size of the weight copies. Call it after all entries are added, before finish_plan().
  void size_copies();
  /// Places the copies in the order of their parameters in the arena. Call it after finish_plan().
  void place_copies();
  [[nodiscard]] std::vector<Constant> take_constants() { return std::move(constants_); }

  [[nodiscard]] std::size_t replica_alignment(std::size_t) const override { return 1; }

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
  /// Copies of the parameters in the compute type, stored one after another in arena order.
  struct Copies {
    TensorId all = -1;
    std::vector<std::pair<TensorId, TensorId>> of;  // pairs of a parameter and its copy
    std::shared_ptr<TensorId> first;                // parameter at the beginning of the arena
    std::shared_ptr<std::int64_t> elements;         // number of elements of the arena
  };
  void emit_copies(const graph::Node& node);

  DeviceView device_;
  TensorId step_state_ = -1;
  Copies copies_;
  WaitingNorm waiting_norm_;
  std::vector<Constant> constants_;
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

}  // namespace roentgen::engine::cuda
