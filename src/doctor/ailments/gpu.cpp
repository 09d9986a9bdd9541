// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Ailments of NVIDIA GPUs and their driver.
#include <fmt/format.h>

#include <algorithm>

#include "core/error_parts.h"
#include "core/lower_case.h"
#include "doctor/ailment_list.h"
#include "doctor/parse.h"
#include "runtime/device_monitor.h"

namespace roentgen::doctor::ailments {
namespace {

bool is_nvidia_gpu(const PciDevice& device) { return device.kind == "gpu" && device.id.starts_with("10de:"); }

/// True if a driver serves the GPU: NVIDIA's, or one that lends it to a virtual machine.
bool is_served(const PciDevice& device) { return device.driver == "nvidia" || device.driver.starts_with("vfio"); }

/// Returns the signs of all GPUs for which `sign` returns one.
template <typename Function>
std::vector<Sign> each_gpu(const Inventory& machine, Function&& sign) {
  std::vector<Sign> signs;
  for (const Gpu& gpu : machine.gpus) {
    if (std::optional<Sign> found = sign(gpu)) signs.push_back(std::move(*found));
  }
  return signs;
}

std::string name_of(const Gpu& gpu) { return fmt::format("GPU {} ({})", gpu.index, gpu.name); }

/// Returns the PCI device of a GPU: nvidia-smi writes "00000000:3B:00.0" for "0000:3b:00.0". Null if it is unknown.
const PciDevice* pci_of(const Inventory& machine, const Gpu& gpu) {
  const std::string bus = lower_case(gpu.bus);
  const auto found =
      std::ranges::find_if(machine.pci, [&](const PciDevice& device) { return bus.ends_with(device.bus); });
  return found == machine.pci.end() ? nullptr : &*found;
}

/// True for GPUs of laptops, which are soldered to few lanes by design.
bool is_mobile(const Gpu& gpu) {
  const std::string name = lower_case(gpu.name);
  return name.find("laptop") != std::string::npos || name.find("mobile") != std::string::npos ||
         name.find("max-q") != std::string::npos;
}

/// Returns a number of PCIe lanes; nullopt for other texts and for 0 and 255, which the kernel shows without a link.
std::optional<double> lanes_in(const std::string& text) {
  constexpr double kMostLanes = 32.0;
  const auto lanes = number_in(text);
  return lanes && *lanes > 0.0 && *lanes <= kMostLanes ? lanes : std::nullopt;
}

/// True if CUDA finds GPUs, but not this one.
bool is_hidden(const Inventory& machine, const Gpu& gpu) {
  const std::string bus = lower_case(gpu.bus);
  return !machine.cuda.devices.empty() &&
         std::ranges::none_of(machine.cuda.devices, [&](const runtime::CudaDeviceInfo& device) {
           return bus.ends_with(lower_case(device.bus));
         });
}

}  // namespace

std::vector<Sign> driver_missing(const Inventory& machine) {
  if (!machine.gpus.empty() || !machine.cuda.devices.empty()) return {};
  const auto gpu = std::ranges::find_if(
      machine.pci, [](const PciDevice& device) { return is_nvidia_gpu(device) && !is_served(device); });
  if (gpu == machine.pci.end()) return {};
  return {{fmt::format("an NVIDIA GPU is at {}, but no driver serves it{}", gpu->bus,
                       gpu->driver.empty() ? "" : fmt::format(" (kernel driver {})", gpu->driver)),
           "install NVIDIA's driver, or start the container with --gpus all"}};
}

std::vector<Sign> gpus_withheld(const Inventory& machine) {
  if (!machine.gpus.empty() || !machine.cuda.devices.empty()) return {};
  const auto gpu = std::ranges::find_if(
      machine.pci, [](const PciDevice& device) { return is_nvidia_gpu(device) && device.driver == "nvidia"; });
  if (gpu == machine.pci.end()) return {};
  return {{fmt::format("NVIDIA's driver serves the GPU at {}, but this process may not use it, or nvidia-smi and CUDA "
                       "are not installed here",
                       gpu->bus),
           "srun --gpus=N, or docker run --gpus all, if this is not intended"}};
}

std::vector<Sign> cuda_missing(const Inventory& machine) {
  if (machine.gpus.empty() || !machine.cuda.devices.empty()) return {};
  const auto visible = machine.variables.find("CUDA_VISIBLE_DEVICES");
  if (visible != machine.variables.end()) return {};  // gpus_hidden() reports it
  const bool is_built = !machine.build.cuda.empty();
  return {{fmt::format("the driver lists {} GPUs, but CUDA finds none: {}", machine.gpus.size(), machine.cuda.why_none),
           is_built ? fmt::format("update the driver to one that knows CUDA {}", machine.build.cuda)
                    : "install the CUDA toolkit and build again with RG_CUDA=ON"}};
}

std::vector<Sign> cuda_engine_missing(const Inventory& machine) {
  if (machine.cuda.devices.empty() || machine.cuda_engine_failure.empty()) return {};
  const ErrorParts parts = error_parts(machine.cuda_engine_failure);
  return {{fmt::format("the CUDA engine cannot start: {}", with_remedy(machine.cuda_engine_failure, {})),
           parts.remedy.empty() ? "install cuDNN 9, or set ROENTGEN_CUDNN to its file" : parts.remedy}};
}

std::vector<Sign> gpus_hidden(const Inventory& machine) {
  const auto visible = machine.variables.find("CUDA_VISIBLE_DEVICES");
  if (visible == machine.variables.end() || machine.cuda.devices.size() >= machine.gpus.size()) return {};
  return {{fmt::format("CUDA_VISIBLE_DEVICES={} shows {} of {} GPUs", visible->second, machine.cuda.devices.size(),
                       machine.gpus.size()),
           "unset CUDA_VISIBLE_DEVICES, if this is not intended"}};
}

std::vector<Sign> gpus_mixed(const Inventory& machine) {
  const auto other =
      std::ranges::find_if(machine.gpus, [&](const Gpu& gpu) { return gpu.name != machine.gpus.front().name; });
  if (other == machine.gpus.end()) return {};
  return {{fmt::format("GPUs differ ({} and {}): in a run over both, the faster waits for the slower",
                       machine.gpus.front().name, other->name),
           "export CUDA_VISIBLE_DEVICES, with the GPUs of one kind"}};
}

std::vector<Sign> launches_blocking(const Inventory& machine) {
  const auto blocking = machine.variables.find("CUDA_LAUNCH_BLOCKING");
  if (blocking == machine.variables.end() || blocking->second == "0") return {};
  return {{"CUDA_LAUNCH_BLOCKING makes the CPU wait for every kernel", "unset CUDA_LAUNCH_BLOCKING"}};
}

std::vector<Sign> gpu_prohibited(const Inventory& machine) {
  return each_gpu(machine, [](const Gpu& gpu) -> std::optional<Sign> {
    if (gpu.compute_mode != "Prohibited") return std::nullopt;
    return Sign{fmt::format("{} has compute mode Prohibited", name_of(gpu)),
                fmt::format("nvidia-smi -i {} -c DEFAULT", gpu.index)};
  });
}

std::vector<Sign> gpu_memory_errors(const Inventory& machine) {
  return each_gpu(machine, [](const Gpu& gpu) -> std::optional<Sign> {
    if (gpu.ecc_errors.value_or(0) == 0) return std::nullopt;
    return Sign{fmt::format("{} had {} uncorrected memory errors", name_of(gpu), *gpu.ecc_errors),
                fmt::format("nvidia-smi -i {} -r, and replace the card if they return", gpu.index)};
  });
}

std::vector<Sign> gpu_hot(const Inventory& machine) {
  using runtime::ThrottleReason;
  constexpr std::int64_t kSlowdowns = ThrottleReason::kHardware | ThrottleReason::kHeat | ThrottleReason::kPowerBrake;
  return each_gpu(machine, [](const Gpu& gpu) -> std::optional<Sign> {
    if ((gpu.throttle_reasons & kSlowdowns) == 0) return std::nullopt;
    return Sign{fmt::format("{} runs slower because of heat or its power supply ({} degrees Celsius)", name_of(gpu),
                            gpu.temperature_c ? fmt::to_string(*gpu.temperature_c) : "unknown"),
                "check fans, air flow and power cables"};
  });
}

std::vector<Sign> gpu_power_limited(const Inventory& machine) {
  return each_gpu(machine, [](const Gpu& gpu) -> std::optional<Sign> {
    constexpr double kTolerance_w = 1.0;
    if (!gpu.power_limit_w || !gpu.default_power_limit_w) return std::nullopt;
    if (*gpu.power_limit_w >= *gpu.default_power_limit_w - kTolerance_w) return std::nullopt;
    return Sign{fmt::format("{} is limited to {:.0f} of {:.0f} W", name_of(gpu), *gpu.power_limit_w,
                            *gpu.default_power_limit_w),
                fmt::format("nvidia-smi -i {} -pl {:.0f}", gpu.index, *gpu.default_power_limit_w)};
  });
}

std::vector<Sign> gpu_link_narrow(const Inventory& machine) {
  // An idle GPU lowers the generation of its link, but not the number of lanes.
  return each_gpu(machine, [&](const Gpu& gpu) -> std::optional<Sign> {
    if (!gpu.link_lanes || !gpu.max_link_lanes || is_mobile(gpu)) return std::nullopt;
    const PciDevice* const device = pci_of(machine, gpu);
    const auto lanes = static_cast<double>(*gpu.link_lanes);
    const auto max = static_cast<double>(*gpu.max_link_lanes);
    const double own = device == nullptr ? max : std::min(max, lanes_in(device->max_width).value_or(max));
    if (lanes >= own) return std::nullopt;
    const auto slot = device == nullptr ? std::nullopt : lanes_in(device->slot_width);
    const std::string text = fmt::format("{} is connected by {:.0f} of {:.0f} PCIe lanes", name_of(gpu), lanes, own);
    if (slot && *slot <= lanes) {
      return Sign{fmt::format("{}, all that its slot has", text), "move it to a slot with more lanes, if there is one",
                  Level::Advice};
    }
    // Without information about the slot, fewer lanes may be intended.
    return Sign{text, "seat the card again, or move it to a slot with all lanes",
                slot ? std::nullopt : std::optional(Level::Advice)};
  });
}

std::vector<Sign> gpu_not_persistent(const Inventory& machine) {
  return each_gpu(machine, [](const Gpu& gpu) -> std::optional<Sign> {
    if (gpu.is_persistent.value_or(true)) return std::nullopt;
    return Sign{fmt::format("{} is set up again by every program, which takes seconds", name_of(gpu)),
                fmt::format("nvidia-smi -i {} -pm 1", gpu.index)};
  });
}

std::vector<Sign> gpu_far(const Inventory& machine) {
  if (machine.cpu.allowed.empty()) return {};
  return each_gpu(machine, [&](const Gpu& gpu) -> std::optional<Sign> {
    if (is_hidden(machine, gpu)) return std::nullopt;  // a rank with the cores of one socket does not use it
    const PciDevice* const device = pci_of(machine, gpu);
    if (device == nullptr || device->numa_node < 0) return std::nullopt;
    const auto node = std::ranges::find(machine.nodes, device->numa_node, &NumaNode::index);
    if (node == machine.nodes.end() || node->cpus.empty()) return std::nullopt;
    const bool is_near = std::ranges::any_of(
        node->cpus, [&](int cpu) { return std::ranges::find(machine.cpu.allowed, cpu) != machine.cpu.allowed.end(); });
    if (is_near) return std::nullopt;
    return Sign{
        fmt::format("{} is near NUMA node {}, none of whose cores this process may use", name_of(gpu), node->index),
        fmt::format("numactl --cpunodebind={}, or srun --gpu-bind=closest", node->index)};
  });
}

}  // namespace roentgen::doctor::ailments
