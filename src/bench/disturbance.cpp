// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/disturbance.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include "bench/harness.h"
#include "core/error.h"

namespace roentgen::bench {
namespace {

namespace fs = std::filesystem;

/// Mean number of cores of other processes above which they are reported.
constexpr double kMostOther_cores = 0.1;
/// Mean number of cores taken by the hypervisor above which they are reported.
constexpr double kMostStolen_cores = 0.02;
constexpr double kLowestClockRatio = 0.95;
constexpr double kLowestGpuClockRatio = 0.98;

using runtime::ThrottleReason;
/// Reasons for a lower clock, with the end of the sentence "the GPU was slowed by ...".
constexpr std::array<std::pair<std::int64_t, std::string_view>, 4> kThrottles{
    {{ThrottleReason::kPowerCap, "its power limit"},
     {ThrottleReason::kHeat, "heat"},
     {ThrottleReason::kPowerBrake, "the power supply"},
     {ThrottleReason::kHardware, "its hardware"}}};

/// Numbers of a disturbance by their keys in a record.
constexpr std::array<std::pair<std::string_view, std::optional<double> Disturbance::*>, 7> kNumbers{
    {{"other_cores", &Disturbance::other_cores},
     {"stolen_cores", &Disturbance::stolen_cores},
     {"clock_ratio", &Disturbance::clock_ratio},
     {"gpu_mhz", &Disturbance::gpu_mhz},
     {"gpu_clock_ratio", &Disturbance::gpu_clock_ratio},
     {"gpu_celsius", &Disturbance::gpu_celsius},
     {"gpu_limit_w", &Disturbance::gpu_limit_w}}};
/// Counts of a disturbance by their keys in a record.
constexpr std::array<std::pair<std::string_view, std::optional<std::int64_t> Disturbance::*>, 2> kCounts{
    {{"throttles", &Disturbance::throttles}, {"gpu_throttle_reasons", &Disturbance::gpu_throttle_reasons}}};

std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

double seconds_of(double ticks) { return ticks / static_cast<double>(std::max(1L, ::sysconf(_SC_CLK_TCK))); }

/// Sets busy_s and stolen_s from the first line of /proc/stat (proc(5)): user, nice, system, idle, iowait, irq,
/// softirq, steal, all in clock ticks.
void read_all_cores(const fs::path& file, MachineState& state) {
  std::istringstream line(text_of(file));
  std::string name;
  double user = 0.0, nice = 0.0, system = 0.0, idle = 0.0, wait = 0.0, irq = 0.0, softirq = 0.0, steal = 0.0;
  if (!(line >> name >> user >> nice >> system >> idle >> wait >> irq >> softirq >> steal) || name != "cpu") return;
  state.busy_s = seconds_of(user + nice + system + irq + softirq);
  state.stolen_s = seconds_of(steal);
}

/// Sets own_s from fields 14 (utime) and 15 (stime) of /proc/self/stat (proc(5)). The name in field 2 may contain
/// blanks and brackets, so that fields are counted from its last bracket.
void read_own(const fs::path& file, MachineState& state) {
  const std::string text = text_of(file);
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return;
  std::istringstream fields(text.substr(name_end + 1));
  std::string skipped;
  constexpr int kFieldsBeforeTimes = 11;
  for (int i = 0; i < kFieldsBeforeTimes; ++i) fields >> skipped;
  double user = 0.0, system = 0.0;
  if (fields >> user >> system) state.own_s = seconds_of(user + system);
}

/// Calls use(text) for the file `name` in every folder cpuN of the kernel.
template <typename Use>
void for_each_core(const fs::path& sys, const fs::path& name, const Use& use) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(sys / "devices/system/cpu", error)) {
    const std::string folder = entry.path().filename().string();
    const bool is_core = folder.size() > 3 && folder.starts_with("cpu") && folder[3] >= '0' && folder[3] <= '9';
    if (!is_core) continue;
    double number = 0.0;
    std::istringstream text(text_of(entry.path() / name));
    if (text >> number) use(number);
  }
}

std::optional<double> difference(std::optional<double> begin, std::optional<double> end) {
  return begin && end ? std::optional(*end - *begin) : std::nullopt;
}

/// Adds the values of the GPU.
void compare_gpus(const runtime::DeviceUse& begin, const runtime::DeviceUse& end, Disturbance& found) {
  if (begin.clock_mhz && end.clock_mhz && *begin.clock_mhz > 0.0) {
    found.gpu_mhz = (*begin.clock_mhz + *end.clock_mhz) / 2;
    found.gpu_clock_ratio = *end.clock_mhz / *begin.clock_mhz;
  }
  found.gpu_celsius = end.celsius;
  found.gpu_limit_w = end.power_limit_w;
  if (!begin.throttle_reasons && !end.throttle_reasons) return;
  std::int64_t disturbing = 0;
  for (const auto& [bits, name] : kThrottles) disturbing |= bits;
  found.gpu_throttle_reasons = (begin.throttle_reasons.value_or(0) | end.throttle_reasons.value_or(0)) & disturbing;
}

/// Replaces `value` by `other` if `other` is known and worse.
template <typename Number, typename IsWorse>
void take_worse(std::optional<Number>& value, const std::optional<Number>& other, const IsWorse& is_worse) {
  if (other && (!value || is_worse(*other, *value))) value = other;
}

void join(Disturbance& host, const Disturbance& rank) {
  for (const auto more : {&Disturbance::other_cores, &Disturbance::stolen_cores, &Disturbance::gpu_celsius}) {
    take_worse(host.*more, rank.*more, std::greater<>());
  }
  for (const auto less :
       {&Disturbance::clock_ratio, &Disturbance::gpu_mhz, &Disturbance::gpu_clock_ratio, &Disturbance::gpu_limit_w}) {
    take_worse(host.*less, rank.*less, std::less<>());
  }
  take_worse(host.throttles, rank.throttles, std::greater<>());
  if (rank.gpu_throttle_reasons) {
    host.gpu_throttle_reasons = host.gpu_throttle_reasons.value_or(0) | *rank.gpu_throttle_reasons;
  }
}

/// Largest factor by which a value exceeds the limit above which it is reported.
double severity_of(const Disturbance& found) {
  return std::max({found.other_cores.value_or(0.0) / kMostOther_cores,
                   found.stolen_cores.value_or(0.0) / kMostStolen_cores,
                   static_cast<double>(found.throttles.value_or(0)),
                   (1.0 - found.clock_ratio.value_or(1.0)) / (1.0 - kLowestClockRatio),
                   (1.0 - found.gpu_clock_ratio.value_or(1.0)) / (1.0 - kLowestGpuClockRatio),
                   found.gpu_throttle_reasons.value_or(0) != 0 ? 1.0 : 0.0});
}

/// Adds the signs of the GPU.
void add_gpu_signs(const Disturbance& found, std::vector<std::string>& signs) {
  std::int64_t reasons = found.gpu_throttle_reasons.value_or(0);
  // Old devices set only the bit of the hardware; newer ones set it beside that of the reason.
  if ((reasons & (ThrottleReason::kHeat | ThrottleReason::kPowerBrake)) != 0) reasons &= ~ThrottleReason::kHardware;
  for (const auto& [bits, name] : kThrottles) {
    if ((reasons & bits) == 0) continue;
    std::string state;
    if (bits == ThrottleReason::kPowerCap && found.gpu_limit_w) state = fmt::format(" ({:.0f} W)", *found.gpu_limit_w);
    if (bits == ThrottleReason::kHeat && found.gpu_celsius) {
      state = fmt::format(" ({:.0f} degrees Celsius)", *found.gpu_celsius);
    }
    signs.push_back(fmt::format("the GPU was slowed by {}{}", name, state));
  }
  if (found.gpu_clock_ratio.value_or(1.0) < kLowestGpuClockRatio) {
    signs.push_back(fmt::format("the clock of the GPU fell to {:.0f}%", *found.gpu_clock_ratio * 100));
  }
}

}  // namespace

MachineState machine_state(const CounterSources& sources) {
  MachineState state{.seconds = std::chrono::duration<double>(Clock::now().time_since_epoch()).count()};
  if (sources.gpu != nullptr) state.gpu = sources.gpu->read();
  read_own(sources.proc / "self/stat", state);
  if (!sources.has_machine) return state;
  read_all_cores(sources.proc / "stat", state);
  for_each_core(sources.sys, "thermal_throttle/core_throttle_count", [&](double count) {
    state.throttles = state.throttles.value_or(0) + static_cast<std::int64_t>(count);
  });
  double khz = 0.0;
  int cores = 0;
  for_each_core(sources.sys, "cpufreq/scaling_cur_freq", [&](double each) {
    khz += each;
    ++cores;
  });
  if (cores > 0) state.mhz = khz / cores / 1e3;
  return state;
}

Disturbance disturbance_between(const MachineState& begin, const MachineState& end) {
  Disturbance found;
  const double seconds = end.seconds - begin.seconds;
  if (seconds <= 0.0) return found;
  const std::optional<double> busy_s = difference(begin.busy_s, end.busy_s);
  const std::optional<double> own_s = difference(begin.own_s, end.own_s);
  if (busy_s && own_s) found.other_cores = std::max(0.0, *busy_s - *own_s) / seconds;
  if (const std::optional<double> stolen_s = difference(begin.stolen_s, end.stolen_s)) {
    found.stolen_cores = *stolen_s / seconds;
  }
  if (begin.throttles && end.throttles) found.throttles = *end.throttles - *begin.throttles;
  if (begin.mhz && end.mhz && *begin.mhz > 0.0) found.clock_ratio = *end.mhz / *begin.mhz;
  if (begin.gpu && end.gpu) compare_gpus(*begin.gpu, *end.gpu, found);
  return found;
}

std::vector<std::string> signs_of(const Disturbance& disturbance) {
  std::vector<std::string> signs;
  if (disturbance.other_cores.value_or(0.0) > kMostOther_cores) {
    signs.push_back(fmt::format("other processes used {:.1f} cores", *disturbance.other_cores));
  }
  if (disturbance.stolen_cores.value_or(0.0) > kMostStolen_cores) {
    signs.push_back(
        fmt::format("the hypervisor took away {:.2f} cores for other virtual machines", *disturbance.stolen_cores));
  }
  if (disturbance.throttles.value_or(0) > 0) {
    signs.push_back(fmt::format("cores became slower because of heat {} times", *disturbance.throttles));
  }
  if (disturbance.clock_ratio.value_or(1.0) < kLowestClockRatio) {
    signs.push_back(fmt::format("the clock of the cores fell to {:.0f}%", *disturbance.clock_ratio * 100));
  }
  add_gpu_signs(disturbance, signs);
  if (disturbance.host.empty()) return signs;
  for (std::string& sign : signs) sign = fmt::format("host {}: {}", disturbance.host, sign);
  return signs;
}

Disturbance worst_host(std::span<const Disturbance> ranks) {
  RG_ASSERT(!ranks.empty());
  std::vector<Disturbance> hosts;
  for (const Disturbance& rank : ranks) {
    const auto found = std::ranges::find(hosts, rank.host, &Disturbance::host);
    found == hosts.end() ? hosts.push_back(rank) : join(*found, rank);
  }
  Disturbance worst = *std::ranges::max_element(hosts, {}, severity_of);
  if (hosts.size() == 1) worst.host.clear();
  return worst;
}

Value to_value(const Disturbance& disturbance) {
  Value table = Value::table();
  table.set("host", disturbance.host.empty() ? Value() : Value(disturbance.host));
  for (const auto& [key, number] : kNumbers)
    table.set(key, disturbance.*number ? Value(*(disturbance.*number)) : Value());
  for (const auto& [key, count] : kCounts) table.set(key, disturbance.*count ? Value(*(disturbance.*count)) : Value());
  return table;
}

Disturbance disturbance_in(const Value& table) {
  Disturbance read;
  if (const Value* const host = table.find("host"); host != nullptr && host->is_string()) read.host = host->as_string();
  for (const auto& [key, number] : kNumbers) {
    const Value* const value = table.find(key);
    if (value != nullptr && value->is_number()) read.*number = value->as_double();
  }
  for (const auto& [key, count] : kCounts) {
    const Value* const value = table.find(key);
    if (value != nullptr && value->is_integer()) read.*count = value->as_integer();
  }
  return read;
}

}  // namespace roentgen::bench
