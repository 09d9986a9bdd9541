// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Measures the run time of convolution plans with CUDA events.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "core/unique_handle.h"
#include "engine/cuda/conv/timed_convolutions.h"
#include "engine/cuda/plan/step_graph.h"
#include "runtime/cuda/check.h"
#include "runtime/cuda/stream.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {
namespace {
using runtime::cuda::as_cuda;
using runtime::cuda::check;

constexpr int kRounds = 3;
// A round repeats the plan for about this long, so that the launch of the graph hardly counts.
constexpr double kRoundSeconds = 1e-3;
constexpr int kMostRuns = 20;
constexpr std::size_t kAlignment = 256;
constexpr std::size_t kFillBytes = std::size_t{16} << 20;

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// Event that records its time, unlike the events of runtime/.
runtime::cuda::EventHandle make_timing_event() {
  cudaEvent_t handle = nullptr;
  check(cudaEventCreateWithFlags(&handle, cudaEventBlockingSync), "a new event");
  return runtime::cuda::EventHandle(handle);
}

class CudaPlanTimer final : public PlanTimer {
 public:
  explicit CudaPlanTimer(int device) : device_(runtime::make_cuda_device(device)), stream_(device_->make_stream()) {}

  [[nodiscard]] double seconds(const ConvProblem& problem, ConvPlan& plan) override {
    const ConvOperands operands = place(problem, plan);
    const auto run = [&] { plan.run(*stream_, operands); };
    run();  // the first run lets the library initialise
    const double once_s = elapsed_s(run);
    const int runs = std::clamp(static_cast<int>(kRoundSeconds / std::max(once_s, 1e-9)), 1, kMostRuns);
    // Uses a graph, as steps do, so that host calls do not count. A plan that cannot be captured is useless for a step.
    RecordedWork work;
    const auto round = [&] {
      work.run(recorder_.get(), *stream_, [&] {
        for (int i = 0; i < runs; ++i) run();
      });
    };
    round();
    round();
    double least_s = std::numeric_limits<double>::infinity();
    for (int i = 0; i < kRounds; ++i) least_s = std::min(least_s, elapsed_s(round) / runs);
    return least_s;
  }
  [[nodiscard]] double now_s() override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  void release() override { memory_.reset(); }

 private:
  // Queues the work between two events and waits for it. Returns the time between them.
  template <typename Work>
  double elapsed_s(const Work& work) {
    const cudaStream_t handle = as_cuda(*stream_).launch_handle();
    check(cudaEventRecord(begin_.get(), handle), "begin of a timing");
    work();
    check(cudaEventRecord(end_.get(), handle), "end of a timing");
    check(cudaEventSynchronize(end_.get()), "timed work");
    float milliseconds = 0.0F;
    check(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()), "elapsed time");
    return static_cast<double>(milliseconds) * 1e-3;
  }

  ConvOperands place(const ConvProblem& problem, const ConvPlan& plan) {
    const auto [src, weights, dst] = problem.elements();
    const auto bytes = [&](std::int64_t elements) {
      return aligned(static_cast<std::size_t>(elements) * size_of(problem.dtype));
    };
    const std::size_t weights_at = bytes(src), dst_at = weights_at + bytes(weights), workspace_at = dst_at + bytes(dst);
    reserve(workspace_at + aligned(plan.workspace_bytes()));
    std::byte* const at = memory_->address();
    return {.src = at, .weights = at + weights_at, .dst = at + dst_at, .workspace = at + workspace_at};
  }

  // Fills the memory with positive and negative numbers between 0.5 and 2 in every type. With zeros, kernels would use
  // less power and run faster.
  void reserve(std::size_t bytes) {
    if (memory_ != nullptr && memory_->size_bytes() >= bytes) return;
    memory_.reset();
    memory_ = device_->make_device_buffer(bytes);
    const auto pinned = device_->make_pinned_buffer(std::min(bytes, kFillBytes));
    const std::span<std::byte> fill = pinned->bytes();
    std::uint64_t state = 1;
    for (std::size_t i = 0; i + 1 < fill.size(); i += 2) {
      state = state * 6364136223846793005U + 1442695040888963407U;  // linear congruential generator (Knuth, MMIX)
      // Sets the sign and the upper exponent bits of bf16, of the upper half of f32, and of f16 (values 1.75 to 2).
      fill[i] = static_cast<std::byte>(state >> 56);
      fill[i + 1] = static_cast<std::byte>(0x3FU | (state >> 40 & 0x80U));
    }
    for (std::size_t at = 0; at < bytes; at += fill.size()) {
      stream_->upload(fill.first(std::min(fill.size(), bytes - at)), *memory_, at);
    }
    stream_->synchronize();
  }

  std::unique_ptr<runtime::Device> device_;
  std::unique_ptr<runtime::Stream> stream_;
  std::unique_ptr<GraphRecorder> recorder_ = make_cuda_graph_recorder();
  runtime::cuda::EventHandle begin_ = make_timing_event(), end_ = make_timing_event();
  std::unique_ptr<runtime::DeviceBuffer> memory_;
};

}  // namespace

std::unique_ptr<PlanTimer> make_cuda_plan_timer(int device) { return std::make_unique<CudaPlanTimer>(device); }

}  // namespace roentgen::engine::cuda
