// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// CUDA engine of one device, and the planner for described cards. Plan entries and kernels of the ops are in this
// folder, in files named like those of engine/cpu.
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <string>
#include <utility>

#include "core/error.h"
#include "core/log.h"
#include "engine/cuda/cards.h"
#include "engine/cuda/conv/timed_convolutions.h"
#include "engine/cuda/cudnn_library.h"
#include "engine/cuda/plan/executable.h"
#include "engine/cuda/plan/measure_choices.h"
#include "engine/engine.h"
#include "engine/engine_list.h"
#include "runtime/cache_folder.h"
#include "runtime/cuda/check.h"
#include "runtime/device_monitor.h"
#include "runtime/stream.h"

namespace roentgen::engine {
namespace {

int multiprocessors(int device) {
  int count = 0;
  runtime::cuda::check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "multiprocessors");
  return count;
}

// Returns the cache of the fastest convolution plans for a card, compute capability and cuDNN version, in the user's
// cache folder.
cuda::PlanCache plan_cache(const std::string& card, int compute_capability) {
  const std::string name = fmt::format("{} sm_{} cuDNN {}", card, compute_capability, cuda::cudnn().get_version());
  std::string file = "plans-" + name + ".json";
  for (char& c : file) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.';
    if (!is_plain) c = '-';
  }
  const std::filesystem::path folder = runtime::default_cache_folder();
  return {folder.empty() ? folder : folder / "cuda" / file, name};
}

// Reason why "auto" does not choose a GPU; empty if it does.
constexpr const char* kWhyNotAuto = "AUROCs of training on a GPU are not confirmed yet; to use it: --device cuda";

// Identifier of a device: its PCI bus address, and the unique id that distinguishes the instances of a partitioned
// (MIG) card.
std::string id_of(const runtime::CudaDeviceInfo& device) {
  cudaDeviceProp properties{};
  runtime::cuda::check(cudaGetDeviceProperties(&properties, device.index), "device properties");
  std::string id = device.bus + " ";
  for (const char byte : properties.uuid.bytes) id += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return id;
}

class CudaEngine final : public Engine {
 public:
  /// Loads cuDNN, so that a machine without it, or with an old one, is refused here.
  explicit CudaEngine(runtime::CudaDeviceInfo device)
      : device_(std::move(device)), id_(id_of(device_)), cudnn_(cuda::cudnn_text()) {
    // Reads the card's use before this process computes on it, so that all use is by other processes.
    const auto monitor = runtime::make_nvml_monitor(device_.bus);
    const auto use = monitor == nullptr ? std::nullopt : monitor->read();
    if (use) warning_ = runtime::shared_device_warning(fmt::format("cuda:{}", device_.index), *use);
  }
  [[nodiscard]] std::string_view name() const override { return "cuda"; }
  [[nodiscard]] std::string why_not_auto() const override { return kWhyNotAuto; }
  [[nodiscard]] DType slot_dtype() const override { return DType::U16; }
  [[nodiscard]] bool times_kernels() const override { return true; }
  [[nodiscard]] std::string description() const override {
    return fmt::format("cuda:{} {}, sm_{}, {} MiB, {}", device_.index, device_.name, device_.compute_capability,
                       device_.memory_bytes >> 20, cudnn_);
  }
  [[nodiscard]] std::string device_id() const override { return id_; }
  [[nodiscard]] std::unique_ptr<Executable> compile(const graph::Graph& graph, const CompileOptions& options) override {
    const std::string warning = std::exchange(warning_, {});
    if (!warning.empty()) log::warning(warning);
    cuda::DeviceSetup setup{.device = runtime::make_cuda_device(device_.index),
                            .convolutions = convolutions(cuda::make_cuda_plan_timer(device_.index)),
                            .graphs = cuda::make_cuda_graph_recorder(),
                            .multiprocessors = multiprocessors(device_.index)};
    return cuda::make_executable(graph, options, std::move(setup));
  }
  [[nodiscard]] Plan plan(const graph::Graph& graph, const CompileOptions& options) override {
    runtime::cuda::use_device(device_.index);
    return cuda::make_plan(graph, options, *convolutions(nullptr), multiprocessors(device_.index));
  }
  [[nodiscard]] std::vector<MeasuredChoice> measure_choices(const graph::Graph& graph,
                                                            const CompileOptions& options) override {
    const auto timer = cuda::make_cuda_plan_timer(device_.index);
    const auto convolutions = cuda::make_cudnn_convolutions();
    return cuda::measure_choices(
        graph, options,
        {.convolutions = *convolutions, .timer = *timer, .multiprocessors = multiprocessors(device_.index)});
  }

 private:
  // Makes cuDNN's convolutions. @param timer times plans; null: only cached plans count as fastest
  [[nodiscard]] std::unique_ptr<cuda::Convolutions> convolutions(std::unique_ptr<cuda::PlanTimer> timer) const {
    return cuda::make_timed_convolutions(cuda::make_cudnn_convolutions(), std::move(timer),
                                         plan_cache(device_.name, device_.compute_capability));
  }

  runtime::CudaDeviceInfo device_;
  std::string id_;
  std::string cudnn_;    // versions
  std::string warning_;  // warning to log once
};

// Engine that only plans, for a card that this machine need not have.
class CudaPlanner final : public Engine {
 public:
  explicit CudaPlanner(cuda::Card card) : card_(std::move(card)) {}
  [[nodiscard]] std::string_view name() const override { return "cuda"; }
  [[nodiscard]] DType slot_dtype() const override { return DType::U16; }
  [[nodiscard]] std::string description() const override {
    return fmt::format("{}, sm_{}, {} MiB, as described", card_.name, card_.compute_capability,
                       card_.memory_bytes >> 20);
  }
  [[nodiscard]] std::unique_ptr<Executable> compile(const graph::Graph& graph, const CompileOptions&) override {
    throw DeviceError(error_text("engine.cuda", graph.name(), "a CUDA device", "only the description of a card",
                                 "a machine with this card"));
  }
  [[nodiscard]] Plan plan(const graph::Graph& graph, const CompileOptions& options) override {
    const auto convolutions = cuda::make_timed_convolutions(cuda::make_cudnn_convolutions(card_.properties), nullptr,
                                                            plan_cache(card_.name, card_.compute_capability));
    return cuda::make_plan(graph, options, *convolutions, card_.multiprocessors);
  }

 private:
  cuda::Card card_;
};

}  // namespace

std::unique_ptr<Engine> make_cuda_engine(int device) {
  return std::make_unique<CudaEngine>(runtime::pick_cuda_device(runtime::find_cuda_devices(), device));
}

std::unique_ptr<Engine> make_cuda_planner(const std::string& card) {
  return std::make_unique<CudaPlanner>(cuda::find_card(card));
}

}  // namespace roentgen::engine
