// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The CUDA engine, as far as it goes: it finds devices and refuses graphs. Streams, memory (runtime/cuda), slots
// (input_slots.h) and the input kernel (normalise.h) are real; no op has kernels yet. They will lie beside this file
// under the names of engine/cpu: conv2d.cpp, batch_norm.cu, ...
#include <fmt/format.h>

#include "core/error.h"
#include "engine/engine.h"
#include "engine/engine_list.h"
#include "runtime/stream.h"

namespace roentgen::engine {
namespace {

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
  [[nodiscard]] std::unique_ptr<Executable> compile(const graph::Graph& graph, const CompileOptions&) override {
    for (const graph::Node& node : graph.nodes()) {
      if (node.is_input()) continue;
      throw DeviceError(error_text("engine.cuda", node.name, fmt::format("a CUDA kernel for {}", op_name(node.op)),
                                   "none: this version has no CUDA kernels for ops", "the engine cpu"));
    }
    throw DeviceError(error_text("engine.cuda", graph.name(), "a graph with ops", "one without"));
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
