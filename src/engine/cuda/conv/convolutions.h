// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Convolutions of the CUDA engine: what a pass computes, and the plans of a library that compute it. The interface
// names no library, so that tests run the engine on a plain implementation.
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

/// Gradient or value that a convolution computes.
enum class ConvPass : std::uint8_t { Forward, DataGradient, WeightGradient };

/// One pass of a 2-D convolution (cross-correlation, as the graph's Conv2d). Arrays hold (height, width).
/// Values are channels-last: src (N, H, W, C), dst (N, OH, OW, OC), weights (OC, KH, KW, C / groups).
struct ConvProblem {
  ConvPass pass = ConvPass::Forward;           ///< what is computed
  DType dtype = DType::Bf16;                   ///< type of src, weights and dst: Bf16, F16 or F32; sums are f32
  bool may_round_to_tf32 = true;               ///< F32: products may round their factors to TF32's 10 bits
  std::int64_t images = 1;                     ///< N
  std::int64_t channels = 1;                   ///< C
  std::array<std::int64_t, 2> size{1, 1};      ///< H, W
  std::int64_t out_channels = 1;               ///< OC
  std::array<std::int64_t, 2> kernel{1, 1};    ///< KH, KW
  std::array<std::int64_t, 2> stride{1, 1};    ///< strides
  std::array<std::int64_t, 2> pad{0, 0};       ///< zeros before and after each axis
  std::array<std::int64_t, 2> dilation{1, 1};  ///< distance of neighbouring kernel elements; 1 is dense
  std::int64_t groups = 1;                     ///< groups of channels that are convolved alone

  /// Elements of each operand.
  struct Elements {
    std::int64_t src, weights, dst;
  };

  /// OH, OW.
  [[nodiscard]] std::array<std::int64_t, 2> out_size() const;
  [[nodiscard]] Elements elements() const;
  /// The problem in one line: "forward bf16 n256 c64 56x56 o64 k3x3 s1x1 p1x1 d1x1 g1". F32 whose products may be
  /// rounded adds "tf32". Equal texts mean equal problems.
  [[nodiscard]] std::string text() const;
  /// Floating-point operations of the pass: two for each product.
  [[nodiscard]] double flops() const;
  /// Bytes of src, weights and dst, each once.
  [[nodiscard]] double bytes() const;
};

/// Device addresses of a pass, 16-byte aligned. The result of the pass is overwritten, the other two are read:
/// dst (Forward), src (DataGradient) or weights (WeightGradient).
struct ConvOperands {
  std::byte* src = nullptr;        ///< values, or their gradient
  std::byte* weights = nullptr;    ///< weights, or their gradient
  std::byte* dst = nullptr;        ///< results, or their gradient
  std::byte* workspace = nullptr;  ///< ConvPlan::workspace_bytes() bytes of any content
  friend bool operator==(const ConvOperands&, const ConvOperands&) = default;
};

/// One way to compute a problem. One thread.
class ConvPlan {
 public:
  virtual ~ConvPlan() = default;
  /// Name that plan_named() of the same library version and card takes.
  [[nodiscard]] virtual const std::string& name() const = 0;
  /// Bytes of memory that run() may overwrite.
  [[nodiscard]] virtual std::size_t workspace_bytes() const = 0;
  /// Gives the same bits on every run.
  [[nodiscard]] virtual bool is_deterministic() const = 0;
  /// Queues the pass. Allocates only when the operands differ from those of the last run; may be captured in a CUDA
  /// graph. Throws DeviceError.
  virtual void run(runtime::Stream& stream, const ConvOperands& operands) = 0;
};

/// Plans of one library on one device. One thread.
class Convolutions {
 public:
  virtual ~Convolutions() = default;
  /// Plans that the library can run for a problem, best first by its own heuristic; `most` at most, at least one.
  /// Throws DeviceError when there is none.
  [[nodiscard]] virtual std::vector<std::unique_ptr<ConvPlan>> plans(const ConvProblem& problem, std::size_t most) = 0;
  /// The plan of that name. Throws DeviceError when the library has no such plan for the problem.
  [[nodiscard]] virtual std::unique_ptr<ConvPlan> plan_named(const ConvProblem& problem, const std::string& name) = 0;

  /// First of plans() that gives the same bits on every run. Throws DeviceError when there is none.
  [[nodiscard]] std::unique_ptr<ConvPlan> first(const ConvProblem& problem);
  /// Plan for training: the fastest one, where this object measures plans (timed_convolutions.h); else first().
  [[nodiscard]] virtual std::unique_ptr<ConvPlan> fastest(const ConvProblem& problem) { return first(problem); }
  /// Ends a series of fastest(): keeps what was measured, logs it in one line and gives memory back.
  virtual void finish_choice() {}
};

/// cuDNN's plans for the calling thread's current device. Throws DeviceError without a usable cuDNN.
[[nodiscard]] std::unique_ptr<Convolutions> make_cudnn_convolutions();
/// cuDNN's plans for a card that need not be there; they cannot run. Throws DeviceError without a usable cuDNN.
/// @param properties JSON text, Card::properties
[[nodiscard]] std::unique_ptr<Convolutions> make_cudnn_convolutions(const std::string& properties);

}  // namespace roentgen::engine::cuda
