// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Lowering: plan entries of the CUDA engine. Each op's file (conv2d.cpp, ...) defines the entries of its forward and
// backward. This class keeps what they share: the stream, the library of convolutions, and weights in the compute type.
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

/// Channels of images are padded with zeros to a multiple of this: accesses of 16 bytes in every type.
inline constexpr int kChannelBlock = 8;

/// Numbers of a step that lie in device memory, so that queued work finds them as they are when it runs.
struct StepState {
  std::int64_t step = 0;          ///< keys dropout
  float scale = 1.0F;             ///< factor of the source of an update, clipped and without the loss scale
  std::int32_t is_unsound = 0;    ///< 1: a loss or norm since begin_update() was not finite
  double loss_scale = 1.0;        ///< factor of the loss's gradient; stays 1 but in f16
  std::int64_t good_updates = 0;  ///< see LossScale
  std::int64_t skipped = 0;       ///< see LossScale
};

/// Device that a plan is made for.
struct DeviceView {
  runtime::Stream* stream = nullptr;  ///< kernels queue there; null for a plan that never runs
  Convolutions& convolutions;         ///< plans of convolutions
  int multiprocessors = 1;            ///< decides the order of sums
};

/// Bytes of a tensor that the executable uploads once.
struct Constant {
  TensorId tensor = -1;
  std::vector<std::byte> bytes;
};

/// A norm of segments whose backward waits for the next one that reads them (norm/shared_norm.h).
struct WaitingNorm {
  /// A segment, and the norm's channel where it begins.
  struct Part {
    graph::NodeId segment = -1;
    int begin = 0;
  };
  graph::NodeId id = -1;
  TensorId dy = -1;  ///< gradient of its result
  std::vector<Part> parts;
};

/// Working state of one compile. One thread; discarded afterwards.
class Lowering final : public PlanBuilder {
 public:
  Lowering(const graph::Graph& graph, const CompileOptions& options, const DeviceView& device);

  /// Stream of all kernels.
  [[nodiscard]] runtime::Stream* stream() const { return device_.stream; }
  [[nodiscard]] int multiprocessors() const { return device_.multiprocessors; }
  /// Layout of images: channels last, padded, stored in dtype().
  [[nodiscard]] Layout image_layout() const { return {Order::ChannelsLast, kChannelBlock, dtype()}; }
  /// Layout of an input's values: stem_image_layout() where a stem alone reads it, else image_layout().
  [[nodiscard]] Layout input_layout(graph::NodeId id) const override;
  /// A 4-D value in image_layout().
  [[nodiscard]] Located image(graph::NodeId id) { return image(id, image_layout()); }
  /// A 4-D value in a layout that is channels last.
  [[nodiscard]] Located image(graph::NodeId id, Layout layout);
  /// The sum of the gradients of a 4-D value, in image_layout().
  [[nodiscard]] Located image_gradient(graph::NodeId id) { return gradient(id, image_layout()); }

  /// A parameter in the compute type: the master itself in f32, else its copy, which is made before a forward.
  [[nodiscard]] TensorId compute_weights(const graph::Node& node, std::string_view name);
  /// Kept memory that holds these bytes.
  [[nodiscard]] TensorId constant(std::string name, std::vector<std::byte> bytes);
  /// StepState.
  [[nodiscard]] TensorId step_state() const { return step_state_; }
  /// The loss's gradient is scaled, so that those of values do not vanish in f16.
  [[nodiscard]] bool has_loss_scale() const { return is_training() && dtype() == DType::F16; }
  /// Kernel of dst = op(a, b), all laid out as dst; b = -1: the operation has one operand.
  [[nodiscard]] NamedKernel flat(FlatOp op, TensorId a, TensorId b, const Located& dst) const;
  /// Plan of a convolution's pass, which is added to the choices. The stored choice comes first. In training with
  /// Algorithms::Auto, ChoiceInputs::measured follows, then the fastest plan. Otherwise it is the library's first one.
  /// The last two give the same bits on every run.
  [[nodiscard]] std::unique_ptr<ConvPlan> conv_plan(const graph::Node& node, const ConvProblem& problem);

  /// Norm whose backward waits; without parts: none.
  [[nodiscard]] WaitingNorm& waiting_norm() { return waiting_norm_; }

  /// Gives the copies of weights their memory: once all entries are there, before finish_plan().
  void size_copies();
  /// Places the copies as their masters lie: after finish_plan().
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
  /// Parameters and their copies in the compute type: one after the other, in the order of the arena.
  struct Copies {
    TensorId all = -1;
    std::vector<std::pair<TensorId, TensorId>> of;  // master, copy
    std::shared_ptr<TensorId> first;                // master at the beginning of the arena
    std::shared_ptr<std::int64_t> elements;         // of the arena
  };
  void emit_copies(const graph::Node& node);

  DeviceView device_;
  TensorId step_state_ = -1;
  Copies copies_;
  WaitingNorm waiting_norm_;
  std::vector<Constant> constants_;
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

}  // namespace roentgen::engine::cuda
