// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Records the work of a step as CUDA graphs, by stream capture.
#include <cuda_runtime.h>

#include "core/unique_handle.h"
#include "engine/cuda/plan/step_graph.h"
#include "runtime/cuda/check.h"
#include "runtime/cuda/stream.h"

namespace roentgen::engine::cuda {
namespace {
using runtime::cuda::as_cuda;
using runtime::cuda::check;
using GraphHandle = UniqueHandle<CUgraph_st, cudaGraphDestroy>;
using ExecHandle = UniqueHandle<CUgraphExec_st, cudaGraphExecDestroy>;

class CudaGraph final : public StepGraph {
 public:
  explicit CudaGraph(cudaGraph_t graph) {
    cudaGraphExec_t made = nullptr;
    check(cudaGraphInstantiate(&made, graph, 0), "instantiation of a step graph");
    exec_.reset(made);
  }
  void launch(runtime::Stream& stream) override {
    check(cudaGraphLaunch(exec_.get(), as_cuda(stream).launch_handle()), "launch of a step graph");
  }

 private:
  ExecHandle exec_;
};

class CudaGraphRecorder final : public GraphRecorder {
 public:
  // Thread-local mode, because other threads, which fill slots, may make CUDA calls during the capture.
  void begin(runtime::Stream& stream) override {
    check(cudaStreamBeginCapture(as_cuda(stream).launch_handle(), cudaStreamCaptureModeThreadLocal),
          "capture of a step graph");
  }
  [[nodiscard]] std::unique_ptr<StepGraph> end(runtime::Stream& stream) override {
    cudaGraph_t graph = nullptr;
    const cudaError_t status = cudaStreamEndCapture(as_cuda(stream).launch_handle(), &graph);
    GraphHandle owner;
    owner.reset(graph);
    check(status, "end of the capture of a step graph");
    return std::make_unique<CudaGraph>(owner.get());
  }
};
}  // namespace

std::unique_ptr<GraphRecorder> make_cuda_graph_recorder() { return std::make_unique<CudaGraphRecorder>(); }

}  // namespace roentgen::engine::cuda
