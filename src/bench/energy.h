// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Energy and cost of a benchmark: joules of CPUs by RAPL and of GPUs by NVML, and money by the price of the machine.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "core/thread_annotations.h"
#include "core/value.h"
#include "runtime/device_monitor.h"

namespace roentgen::bench {

/// Energy that the machine used between two moments. Unknown values are nullopt.
struct Energy {
  double seconds = 0.0;
  std::optional<double> cpu_j{};               ///< all CPU packages and their memory
  bool is_cpu_forbidden = false;               ///< true if there are RAPL counters that this user may not read
  std::vector<std::optional<double>> gpu_j{};  ///< each CUDA device, by its index
};

/// Counter of one RAPL domain, a folder of /sys/class/powercap. The kernel's counter starts again at 0 after its range,
/// at full load about every 20 minutes. Thread-compatible.
class RaplCounter {
 public:
  /// Opens the counter; nullopt unless the folder has a readable energy_uj and max_energy_range_uj.
  [[nodiscard]] static std::optional<RaplCounter> open(const std::filesystem::path& folder);
  /// Adds the energy since the last call. Call it more often than the counter starts again.
  void update();
  [[nodiscard]] double joules() const { return static_cast<double>(sum_uj_) * 1e-6; }

 private:
  RaplCounter(std::filesystem::path file, std::uint64_t range_uj, std::uint64_t last_uj)
      : file_(std::move(file)), range_uj_(range_uj), last_uj_(last_uj) {}
  std::filesystem::path file_;
  std::uint64_t range_uj_;
  std::uint64_t last_uj_;
  std::uint64_t sum_uj_ = 0;
};

/// Opens the counters of all CPU packages (intel-rapl:N) and of their memory (intel-rapl:N:M named dram). The domain
/// psys is left out, because it contains the packages. Empty where counters are absent or only root may read them.
[[nodiscard]] std::vector<RaplCounter> rapl_counters(const std::filesystem::path& powercap);

using Monitors = std::vector<std::unique_ptr<runtime::DeviceMonitor>>;
/// True if there are such counters, but at least one of them cannot be read.
[[nodiscard]] bool is_rapl_forbidden(const std::filesystem::path& powercap);

/// Makes a monitor for every CUDA device, by its index; null if NVML does not know it.
[[nodiscard]] Monitors all_monitors();

/// Measures the energy from its construction to stop(). A thread reads RAPL's counters every 10 s. For
/// use by the thread that made the object; stop() may be called once.
class EnergyMeter {
 public:
  explicit EnergyMeter(Monitors monitors, const std::filesystem::path& powercap = "/sys/class/powercap");
  /// Runs `work`, whose time and CPU energy do not count. Its energy of GPUs counts.
  void leave_out(const std::function<void()>& work);
  [[nodiscard]] Energy stop();

 private:
  void update() RG_REQUIRES(mutex_);
  /// Reads the counters. Returns the joules of all of them since the construction; nullopt without counters.
  [[nodiscard]] std::optional<double> read_cpu_j();

  Monitors monitors_;
  std::vector<std::optional<double>> gpu_at_begin_j_;
  bool is_forbidden_;
  double begin_s_;
  double left_out_s_ = 0.0, left_out_cpu_j_ = 0.0;
  Mutex mutex_;
  std::condition_variable_any stopped_;
  std::vector<RaplCounter> counters_ RG_GUARDED_BY(mutex_);
  std::jthread thread_;  // the last member, so that it ends before the others
};

/// Returns the table {seconds, cpu_joules, gpu_joules, watts, images_per_joule} of the energy that a result took.
/// images_per_joule = images_per_s / watts. Unknown values are null; then `unknown` says why there are no watts. Energy
/// of GPUs is that of the device of the result (key device, "cuda:1"), or of the first devices if the result has
/// several ranks. It is unknown if this process sees fewer devices than ranks. No energy is known if the result has
/// several hosts, because only this one was measured, or an emulated device.
[[nodiscard]] Value energy_value(const Value& result, const Energy& energy);

/// Adds to a result:
///   energy  energy_value() of the whole case with its preparation, and `of`. If the case has set `energy` itself, for
///           its measured steps only, watts and images_per_joule are those, and `of` is "steps"; else "whole case".
///   cost    {per_hour, of_case, images_per_cost, to_target}, if `cost_per_hour` is above 0: in the unit of the price;
///           to_target is the cost of time_to_target_s
void add_energy(Value& result, const Energy& energy, double cost_per_hour);

}  // namespace roentgen::bench
