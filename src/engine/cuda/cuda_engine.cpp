// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The CUDA engine: finds devices and compiles for the first one. Plan entries and kernels of the ops lie beside this
// file under the names of engine/cpu.
#include <cuda_runtime.h>
#include <fmt/format.h>

#include "core/error.h"
#include "engine/cuda/plan/executable.h"
#include "engine/engine.h"
#include "engine/engine_list.h"
#include "runtime/cuda/check.h"
#include "runtime/stream.h"

namespace roentgen::engine {
namespace {

int multiprocessors(int device) {
  int count = 0;
  runtime::cuda::check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "multiprocessors");
  return count;
}

class CudaEngine final : public Engine {
 public:
  explicit CudaEngine(runtime::CudaInventory inventory) : inventory_(std::move(inventory)) {}
  [[nodiscard]] std::string_view name() const override { return "cuda"; }
  [[nodiscard]] std::string description() const override {
    std::string text;
    for (const runtime::CudaDeviceInfo& device : inventory_.devices) {
      text += fmt::format("{}cuda:{} {}, sm_{}, {} MiB", text.empty() ? "" : "; ", device.index, device.name,
                          device.compute_capability, device.memory_bytes >> 20);
    }
    return text;
  }
  [[nodiscard]] std::unique_ptr<Executable> compile(const graph::Graph& graph, const CompileOptions& options) override {
    const int index = inventory_.devices.front().index;
    cuda::DeviceSetup setup{.device = runtime::make_cuda_device(index),
                            .convolutions = cuda::make_cudnn_convolutions(),
                            .graphs = cuda::make_cuda_graph_recorder(),
                            .multiprocessors = multiprocessors(index)};
    return cuda::make_executable(graph, options, std::move(setup));
  }
  [[nodiscard]] Plan plan(const graph::Graph& graph, const CompileOptions& options) override {
    const int index = inventory_.devices.front().index;
    runtime::cuda::use_device(index);
    return cuda::make_plan(graph, options, *cuda::make_cudnn_convolutions(), multiprocessors(index));
  }

 private:
  runtime::CudaInventory inventory_;
};

}  // namespace

std::unique_ptr<Engine> make_cuda_engine() {
  runtime::CudaInventory inventory = runtime::find_cuda_devices();
  if (inventory.devices.empty()) {
    throw DeviceError(
        error_text("engine.cuda", "engine cuda", "a CUDA device", "none: " + inventory.why_none, "the engine cpu"));
  }
  return std::make_unique<CudaEngine>(std::move(inventory));
}

}  // namespace roentgen::engine
