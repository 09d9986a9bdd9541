// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/energy.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "bench/harness.h"
#include "runtime/stream.h"

namespace roentgen::bench {
namespace {

namespace fs = std::filesystem;

constexpr double kSecondsPerHour = 3600.0;

std::optional<std::uint64_t> number_in(const fs::path& file) {
  std::uint64_t number = 0;
  return std::ifstream(file) >> number ? std::optional(number) : std::nullopt;
}

double now_s() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

std::optional<double> number_at(const Value& table, std::string_view key) {
  const Value* const value = table.find(key);
  return value != nullptr && value->is_number() ? std::optional(value->as_double()) : std::nullopt;
}

Value or_null(std::optional<double> number) { return number ? Value(*number) : Value(); }

bool has_cuda(const Value& result) {
  const Value* const device = result.find("device");
  return device != nullptr && device->is_string() && device->as_string().starts_with("cuda");
}

/// True if ranks may compute on GPUs that this process does not see, because a launcher gave each rank its own.
bool sees_too_few(const Value& result, const Energy& energy) {
  const double ranks = number_at(result, "ranks").value_or(1.0);
  return has_cuda(result) && ranks > 1.0 && static_cast<double>(energy.gpu_j.size()) < ranks;
}

/// Joules of the GPUs that computed the result; nullopt if unknown. 0 if the CPU computed.
std::optional<double> gpu_joules(const Value& result, const Energy& energy) {
  if (!has_cuda(result)) return 0.0;
  const std::string_view name = result.at("device").as_string();
  const double ranks = number_at(result, "ranks").value_or(1.0);
  if (ranks <= 1.0) {
    const std::size_t colon = name.find(':');
    const std::size_t index = colon == std::string_view::npos ? 0 : std::stoul(std::string(name.substr(colon + 1)));
    return index < energy.gpu_j.size() ? energy.gpu_j[index] : std::nullopt;
  }
  // Rank i of a host computes on device i. Idle devices do not count.
  if (sees_too_few(result, energy)) return std::nullopt;
  double sum_j = 0.0;
  for (std::size_t i = 0; static_cast<double>(i) < ranks; ++i) {
    if (!energy.gpu_j[i]) return std::nullopt;
    sum_j += *energy.gpu_j[i];
  }
  return sum_j;
}

/// True if the result was computed on several hosts: their number, or the host of each rank.
bool has_several_hosts(const Value& result) {
  const Value* const hosts = result.find("hosts");
  if (hosts == nullptr) return false;
  if (hosts->is_integer()) return hosts->as_integer() > 1;
  if (hosts->is_string()) return hosts->as_string().find(',') != std::string::npos;
  return hosts->is_array() &&
         std::ranges::any_of(hosts->as_array(), [&](const Value& host) { return host != hosts->as_array().front(); });
}

/// True if the time of the result was emulated, so that the machine's energy says nothing about it.
bool is_emulated(const Value& result) {
  const auto is_said = [&](std::string_view key) {
    const Value* const value = result.find(key);
    return value != nullptr && value->is_string() && value->as_string().starts_with("emulated");
  };
  return is_said("device") || is_said("kind");
}

/// Reason why the power of a result is unknown.
std::string_view unknown_reason(const Value& result, const Energy& energy) {
  if (is_emulated(result)) return "the device is emulated";
  if (has_several_hosts(result)) return "only this host's energy was measured, not that of the others";
  if (sees_too_few(result, energy)) return "this process sees fewer GPUs than there are ranks";
  if (has_cuda(result)) return "NVML does not report the energy of the GPU";
  if (energy.is_cpu_forbidden) return "only root may read RAPL; sudo chmod a+r /sys/class/powercap/*/energy_uj";
  return energy.cpu_j ? "no time has passed" : "this machine has no RAPL counters";
}

bool is_rapl_domain(const fs::path& folder) {
  std::string name;
  std::getline(std::ifstream(folder / "name"), name);
  return folder.filename().string().starts_with("intel-rapl:") && (name.starts_with("package") || name == "dram");
}

}  // namespace

std::optional<RaplCounter> RaplCounter::open(const fs::path& folder) {
  const auto range_uj = number_in(folder / "max_energy_range_uj"), now_uj = number_in(folder / "energy_uj");
  if (!range_uj || !now_uj) return std::nullopt;
  return RaplCounter(folder / "energy_uj", *range_uj, *now_uj);
}

void RaplCounter::update() {
  const std::uint64_t now_uj = number_in(file_).value_or(last_uj_);
  sum_uj_ += now_uj >= last_uj_ ? now_uj - last_uj_ : range_uj_ - last_uj_ + now_uj;
  last_uj_ = now_uj;
}

std::vector<RaplCounter> rapl_counters(const fs::path& powercap) {
  std::vector<RaplCounter> counters;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(powercap, error)) {
    if (!is_rapl_domain(entry.path())) continue;
    if (auto counter = RaplCounter::open(entry.path())) counters.push_back(std::move(*counter));
  }
  return counters;
}

bool is_rapl_forbidden(const fs::path& powercap) {
  std::error_code error;
  return std::ranges::any_of(fs::directory_iterator(powercap, error), [](const fs::directory_entry& entry) {
    return is_rapl_domain(entry.path()) && !RaplCounter::open(entry.path());
  });
}

Monitors all_monitors() {
  Monitors monitors;
  for (const runtime::CudaDeviceInfo& device : runtime::find_cuda_devices().devices) {
    monitors.push_back(runtime::make_nvml_monitor(device.bus));
  }
  return monitors;
}

EnergyMeter::EnergyMeter(Monitors monitors, const fs::path& powercap)
    : monitors_(std::move(monitors)),
      is_forbidden_(is_rapl_forbidden(powercap)),
      begin_s_(now_s()),
      counters_(is_forbidden_ ? std::vector<RaplCounter>() : rapl_counters(powercap)) {
  for (const auto& monitor : monitors_) {
    const auto use = monitor ? monitor->read() : std::nullopt;
    gpu_at_begin_j_.push_back(use ? use->energy_j : std::nullopt);
  }
  if (counters_.empty()) return;
  thread_ = std::jthread([this](const std::stop_token& stop) {
    constexpr std::chrono::seconds kInterval{10};
    MutexLock lock(mutex_);
    while (!stopped_.wait_for(lock, stop, kInterval, [&stop] { return stop.stop_requested(); })) update();
  });
}

void EnergyMeter::update() {
  for (RaplCounter& counter : counters_) counter.update();
}

std::optional<double> EnergyMeter::read_cpu_j() {
  const MutexLock lock(mutex_);
  update();
  std::optional<double> sum_j;
  for (const RaplCounter& counter : counters_) sum_j = sum_j.value_or(0.0) + counter.joules();
  return sum_j;
}

void EnergyMeter::leave_out(const std::function<void()>& work) {
  const double begin_s = now_s();
  const std::optional<double> begin_j = read_cpu_j();
  work();
  const std::optional<double> end_j = read_cpu_j();
  if (begin_j && end_j) left_out_cpu_j_ += *end_j - *begin_j;
  left_out_s_ += now_s() - begin_s;
}

Energy EnergyMeter::stop() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  Energy energy{.seconds = now_s() - begin_s_ - left_out_s_, .is_cpu_forbidden = is_forbidden_};
  if (const std::optional<double> sum_j = read_cpu_j()) energy.cpu_j = *sum_j - left_out_cpu_j_;
  for (std::size_t i = 0; i < monitors_.size(); ++i) {
    const auto use = monitors_[i] ? monitors_[i]->read() : std::nullopt;
    const bool is_known = use && use->energy_j && gpu_at_begin_j_[i];
    energy.gpu_j.push_back(is_known ? std::optional(*use->energy_j - *gpu_at_begin_j_[i]) : std::nullopt);
  }
  return energy;
}

Value energy_value(const Value& result, const Energy& energy) {
  const bool is_known = !has_several_hosts(result) && !is_emulated(result);
  const std::optional<double> cpu_j = is_known ? energy.cpu_j : std::nullopt;
  const std::optional<double> gpu_j = is_known ? gpu_joules(result, energy) : std::nullopt;
  const std::optional<double> images_per_s = number_at(result, "images_per_s");
  std::optional<double> watts, images_per_joule;
  // The CPU's part of a GPU's run may be unknown; then the power is that of the GPU alone.
  const double joules = cpu_j.value_or(0.0) + gpu_j.value_or(0.0);
  if (gpu_j && joules > 0.0 && energy.seconds > 0.0) watts = joules / energy.seconds;
  if (watts && images_per_s) images_per_joule = *images_per_s / *watts;
  Value table = Value::Table{{"seconds", energy.seconds},
                             {"cpu_joules", or_null(cpu_j)},
                             {"gpu_joules", or_null(gpu_j)},
                             {"watts", or_null(watts)},
                             {"images_per_joule", or_null(images_per_joule)}};
  if (!watts) table.set("unknown", unknown_reason(result, energy));
  return table;
}

void add_energy(Value& result, const Energy& energy, double cost_per_hour) {
  const std::optional<double> images_per_s = number_at(result, "images_per_s");
  Value table = energy_value(result, energy);
  const Value* const steps = result.find("energy");
  const bool has_steps = steps != nullptr && steps->is_table();
  table.set("of", has_steps ? "steps" : "whole case");
  if (has_steps) {
    for (const char* const key : {"watts", "images_per_joule"}) table.set(key, steps->at(key));
  }
  result.set("energy", std::move(table));
  if (cost_per_hour <= 0.0) return;
  const double per_s = cost_per_hour / kSecondsPerHour;
  const std::optional<double> target_s = number_at(result, "time_to_target_s");
  result.set("cost", Value::Table{{"per_hour", cost_per_hour},
                                  {"of_case", energy.seconds * per_s},
                                  {"images_per_cost", images_per_s ? Value(*images_per_s / per_s) : Value()},
                                  {"to_target", target_s ? Value(*target_s * per_s) : Value()}});
}

}  // namespace roentgen::bench
