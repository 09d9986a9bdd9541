// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Interface of the CUDA engine's convolutions: ConvProblem describes a pass, and ConvPlan is one algorithm of a library
// for it. The interface names no library, so that tests can use a plain implementation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/shape.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// Result that a convolution pass computes: output values, gradient of the input, or gradient of the weights.
enum class ConvPass : std::uint8_t { Forward, DataGradient, WeightGradient };

/// One pass of a 2-D convolution (a cross-correlation, like the graph's Conv2d). Each std::array holds (height, width).
/// Tensors are channels-last: src (N, H, W, C), dst (N, OH, OW, OC), weights (OC, KH, KW, C / groups).
struct ConvProblem {
  ConvPass pass = ConvPass::Forward;           ///< result to compute
  DType dtype = DType::Bf16;                   ///< type of src, weights and dst: Bf16, F16 or F32; sums are f32
  bool may_round_to_tf32 = true;               ///< for F32: products may round their factors to TF32's 10 bits
  std::int64_t images = 1;                     ///< N
  std::int64_t channels = 1;                   ///< C
  std::array<std::int64_t, 2> size{1, 1};      ///< H, W
  std::int64_t out_channels = 1;               ///< OC
  std::array<std::int64_t, 2> kernel{1, 1};    ///< KH, KW
  std::array<std::int64_t, 2> stride{1, 1};    ///< strides
  std::array<std::int64_t, 2> pad{0, 0};       ///< zero padding before and after each axis
  std::array<std::int64_t, 2> dilation{1, 1};  ///< distance between kernel elements; 1 means none are skipped
  std::int64_t groups = 1;                     ///< number of channel groups, which are convolved separately

  /// Number of elements of each operand.
  struct Elements {
    std::int64_t src, weights, dst;
  };

  /// Height and width of dst: OH, OW.
  [[nodiscard]] std::array<std::int64_t, 2> out_size() const;
  [[nodiscard]] Elements elements() const;
  /// Returns the problem as text, such as "forward bf16 n256 c64 56x56 o64 k3x3 s1x1 p1x1 d1x1 g1". Adds "tf32" if F32
  /// products may be rounded. Equal texts mean equal problems.
  [[nodiscard]] std::string text() const;
  /// Number of floating-point operations of the pass, two for each product.
  [[nodiscard]] double flops() const;
  /// Bytes of src, weights and dst together.
  [[nodiscard]] double bytes() const;
};

/// Device addresses of the operands of a pass, 16-byte aligned. The pass overwrites dst (Forward), src (DataGradient)
/// or weights (WeightGradient) and reads the other two operands.
struct ConvOperands {
  std::byte* src = nullptr;        ///< input values, or their gradient
  std::byte* weights = nullptr;    ///< weights, or their gradient
  std::byte* dst = nullptr;        ///< output values, or their gradient
  std::byte* workspace = nullptr;  ///< ConvPlan::workspace_bytes() bytes of scratch with any content
  friend bool operator==(const ConvOperands&, const ConvOperands&) = default;
};

/// A library's plan, which is one way to compute a ConvProblem. Not thread-safe.
class ConvPlan {
 public:
  virtual ~ConvPlan() = default;
  /// Name by which Convolutions::plan_named() finds the plan again, with the same library version and card.
  [[nodiscard]] virtual const std::string& name() const = 0;
  /// Bytes of scratch memory that run() needs.
  [[nodiscard]] virtual std::size_t workspace_bytes() const = 0;
  /// True if every run gives the same bits.
  [[nodiscard]] virtual bool is_deterministic() const = 0;
  /// Queues the pass on a stream. Allocates only if the operands differ from those of the last run. May be captured in
  /// a CUDA graph. Throws DeviceError.
  virtual void run(runtime::Stream& stream, const ConvOperands& operands) = 0;
};

/// Source of the convolution plans of one library on one device. Not thread-safe.
class Convolutions {
 public:
  virtual ~Convolutions() = default;
  /// Returns between one and `most` plans for a problem, best first by the library's own heuristic. Throws DeviceError
  /// if there is none.
  [[nodiscard]] virtual std::vector<std::unique_ptr<ConvPlan>> plans(const ConvProblem& problem, std::size_t most) = 0;
  /// Returns the plan with this name. Throws DeviceError if the library has no such plan for the problem.
  [[nodiscard]] virtual std::unique_ptr<ConvPlan> plan_named(const ConvProblem& problem, const std::string& name) = 0;

  /// Returns the first of plans() that is deterministic. Throws DeviceError if there is none.
  [[nodiscard]] std::unique_ptr<ConvPlan> first(const ConvProblem& problem);
  /// Returns the plan for training: the fastest if this object measures plans (timed_convolutions.h), otherwise
  /// first().
  [[nodiscard]] virtual std::unique_ptr<ConvPlan> fastest(const ConvProblem& problem) { return first(problem); }
  /// Ends a series of fastest() calls: stores the measurements, logs them in one line and frees memory.
  virtual void finish_choice() {}
};

/// Makes cuDNN's convolutions for the calling thread's current device. Throws DeviceError if cuDNN is not usable.
[[nodiscard]] std::unique_ptr<Convolutions> make_cudnn_convolutions();
/// Makes cuDNN's convolutions for a card that this machine need not have; its plans cannot run. Throws DeviceError if
/// cuDNN is not usable.
/// @param properties JSON text of Card::properties
[[nodiscard]] std::unique_ptr<Convolutions> make_cudnn_convolutions(const std::string& properties);

}  // namespace roentgen::engine::cuda
