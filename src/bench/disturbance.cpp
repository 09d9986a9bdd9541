// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/disturbance.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>

#include "bench/harness.h"

namespace roentgen::bench {
namespace {

namespace fs = std::filesystem;

/// Mean number of cores of other processes above which they are reported.
constexpr double kMostOther_cores = 0.1;
/// Mean number of cores taken by the hypervisor above which they are reported.
constexpr double kMostStolen_cores = 0.02;
constexpr double kLowestClockRatio = 0.95;

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

}  // namespace

MachineState machine_state(const KernelFolders& folders) {
  MachineState state{.seconds = std::chrono::duration<double>(Clock::now().time_since_epoch()).count()};
  read_all_cores(folders.proc / "stat", state);
  read_own(folders.proc / "self/stat", state);
  for_each_core(folders.sys, "thermal_throttle/core_throttle_count", [&](double count) {
    state.throttles = state.throttles.value_or(0) + static_cast<std::int64_t>(count);
  });
  double khz = 0.0;
  int cores = 0;
  for_each_core(folders.sys, "cpufreq/scaling_cur_freq", [&](double each) {
    khz += each;
    ++cores;
  });
  if (cores > 0) state.mhz = khz / cores / 1e3;
  return state;
}

Disturbance disturbance_between(const MachineState& begin, const MachineState& end, std::int64_t own_processes) {
  Disturbance found;
  const double seconds = end.seconds - begin.seconds;
  if (seconds <= 0.0) return found;
  const std::optional<double> busy_s = difference(begin.busy_s, end.busy_s);
  const std::optional<double> own_s = difference(begin.own_s, end.own_s);
  if (busy_s && own_s && own_processes == 1) found.other_cores = std::max(0.0, *busy_s - *own_s) / seconds;
  if (const std::optional<double> stolen_s = difference(begin.stolen_s, end.stolen_s)) {
    found.stolen_cores = *stolen_s / seconds;
  }
  if (begin.throttles && end.throttles) found.throttles = *end.throttles - *begin.throttles;
  if (begin.mhz && end.mhz && *begin.mhz > 0.0) found.clock_ratio = *end.mhz / *begin.mhz;
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
  return signs;
}

Value to_value(const Disturbance& disturbance) {
  const auto number = [](const auto& value) { return value ? Value(*value) : Value(); };
  return Value::Table{{"other_cores", number(disturbance.other_cores)},
                      {"stolen_cores", number(disturbance.stolen_cores)},
                      {"throttles", number(disturbance.throttles)},
                      {"clock_ratio", number(disturbance.clock_ratio)}};
}

Disturbance disturbance_in(const Value& table) {
  const auto number_at = [&table](std::string_view key) {
    const Value* const value = table.find(key);
    return value != nullptr && value->is_number() ? std::optional(value->as_double()) : std::nullopt;
  };
  Disturbance read{.other_cores = number_at("other_cores"),
                   .stolen_cores = number_at("stolen_cores"),
                   .clock_ratio = number_at("clock_ratio")};
  if (const auto count = number_at("throttles")) read.throttles = static_cast<std::int64_t>(*count);
  return read;
}

}  // namespace roentgen::bench
