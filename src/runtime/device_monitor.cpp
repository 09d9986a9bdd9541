// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads the state of a CUDA device through NVML. The types and functions of nvml.h are declared here, so that the build
// needs no NVIDIA header.
#include "runtime/device_monitor.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>

namespace roentgen::runtime {
namespace {

// Types of nvml.h: nvmlReturn_t (0 is success), nvmlDevice_t, nvmlUtilization_t, nvmlMemory_t and nvmlProcessInfo_v3_t.
using Status = int;
using Handle = void*;
struct Utilisation {
  unsigned gpu, memory;
};
struct Memory {
  unsigned long long total, free, used;
};
struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};

/// Functions of NVML. All down to `processes` must exist, otherwise the library is not used.
struct Nvml {
  Status (*init)() = nullptr;
  Status (*handle_of)(const char* bus, Handle* handle) = nullptr;
  Status (*power)(Handle device, unsigned* milliwatts) = nullptr;
  Status (*power_limit)(Handle device, unsigned* milliwatts) = nullptr;
  Status (*utilisation)(Handle device, Utilisation* rates) = nullptr;
  Status (*memory)(Handle device, Memory* memory) = nullptr;
  Status (*processes)(Handle device, unsigned* count, ProcessInfo* infos) = nullptr;
  Status (*energy)(Handle device, unsigned long long* millijoules) = nullptr;
  Status (*clock)(Handle device, int kind, unsigned* megahertz) = nullptr;
  Status (*temperature)(Handle device, int sensor, unsigned* celsius) = nullptr;
  Status (*throttle_reasons)(Handle device, unsigned long long* reasons) = nullptr;
};

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

// Loads NVML; nullopt if it is missing or lacks a function. The library stays loaded until the process ends, because
// its threads run until then.
std::optional<Nvml> load(const std::string& file) {
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  Nvml nvml;
  const bool is_whole = library != nullptr && find(library, "nvmlInit_v2", nvml.init) &&
                        find(library, "nvmlDeviceGetHandleByPciBusId_v2", nvml.handle_of) &&
                        find(library, "nvmlDeviceGetPowerUsage", nvml.power) &&
                        find(library, "nvmlDeviceGetEnforcedPowerLimit", nvml.power_limit) &&
                        find(library, "nvmlDeviceGetUtilizationRates", nvml.utilisation) &&
                        find(library, "nvmlDeviceGetMemoryInfo", nvml.memory) &&
                        find(library, "nvmlDeviceGetComputeRunningProcesses_v3", nvml.processes);
  if (!is_whole || nvml.init() != 0) return std::nullopt;
  static_cast<void>(find(library, "nvmlDeviceGetTotalEnergyConsumption", nvml.energy));
  static_cast<void>(find(library, "nvmlDeviceGetClockInfo", nvml.clock));
  static_cast<void>(find(library, "nvmlDeviceGetTemperature", nvml.temperature));
  // Drivers before 535 know only the second name.
  static_cast<void>(find(library, "nvmlDeviceGetCurrentClocksEventReasons", nvml.throttle_reasons) ||
                    find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", nvml.throttle_reasons));
  return nvml;
}

class NvmlMonitor final : public DeviceMonitor {
 public:
  NvmlMonitor(const Nvml& nvml, Handle device) : nvml_(nvml), device_(device) {}
  [[nodiscard]] std::optional<DeviceUse> read() override {
    constexpr double kMilli = 1e-3;
    constexpr std::size_t kMostProcesses = 64;
    unsigned power = 0, limit = 0, count = kMostProcesses;
    Utilisation rates{};
    Memory memory{};
    std::array<ProcessInfo, kMostProcesses> infos{};
    if (nvml_.power(device_, &power) != 0 || nvml_.power_limit(device_, &limit) != 0 ||
        nvml_.utilisation(device_, &rates) != 0 || nvml_.memory(device_, &memory) != 0 ||
        nvml_.processes(device_, &count, infos.data()) != 0) {
      return std::nullopt;
    }
    DeviceUse use{.power_w = kMilli * power,
                  .power_limit_w = kMilli * limit,
                  .busy_percent = static_cast<int>(rates.gpu),
                  .used_bytes = memory.used,
                  .memory_bytes = memory.total,
                  .processes = count};
    read_optional(use);
    return use;
  }

 private:
  /// Sets the values that not every device or driver reports.
  void read_optional(DeviceUse& use) const {
    constexpr double kJoules = 1e-3;
    constexpr int kMultiprocessors = 1, kChip = 0;  // nvml.h: NVML_CLOCK_SM, NVML_TEMPERATURE_GPU
    unsigned long long number = 0;
    unsigned megahertz = 0, celsius = 0;
    if (nvml_.energy != nullptr && nvml_.energy(device_, &number) == 0) {
      use.energy_j = kJoules * static_cast<double>(number);
    }
    if (nvml_.clock != nullptr && nvml_.clock(device_, kMultiprocessors, &megahertz) == 0) use.clock_mhz = megahertz;
    if (nvml_.temperature != nullptr && nvml_.temperature(device_, kChip, &celsius) == 0) use.celsius = celsius;
    if (nvml_.throttle_reasons != nullptr && nvml_.throttle_reasons(device_, &number) == 0) {
      use.throttle_reasons = static_cast<std::int64_t>(number);
    }
  }

  Nvml nvml_;
  Handle device_;
};

}  // namespace

std::string bus_of(std::string_view device_id) { return std::string(device_id.substr(0, device_id.find(' '))); }

std::unique_ptr<DeviceMonitor> make_nvml_monitor(const std::string& bus, const std::string& library) {
  const std::optional<Nvml> nvml = load(library);
  Handle device = nullptr;
  if (!nvml || nvml->handle_of(bus.c_str(), &device) != 0) return nullptr;
  return std::make_unique<NvmlMonitor>(*nvml, device);
}

std::string shared_device_warning(std::string_view device, const DeviceUse& use) {
  if (use.processes == 0) return {};
  constexpr double kMiB = 1048576.0;
  return fmt::format("{} {} on {} already, with {:.0f} MiB in use and {}% busy; this process shares it", use.processes,
                     use.processes == 1 ? "process computes" : "processes compute", device,
                     static_cast<double>(use.used_bytes) / kMiB, use.busy_percent);
}

}  // namespace roentgen::runtime
