// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Ailments of cores, clocks and the build.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "doctor/ailment_list.h"
#include "doctor/parse.h"
#include "runtime/cpu_quota.h"

namespace roentgen::doctor::ailments {
namespace {

/// Values of ONEDNN_MAX_CPU_ISA, slowest first, with the flag of /proc/cpuinfo that a CPU needs for it.
struct Isa {
  std::string_view name;
  std::string_view flag;
};
constexpr std::array<Isa, 8> kIsas{{{"SSE41", "sse4_1"},
                                    {"AVX", "avx"},
                                    {"AVX2", "avx2"},
                                    {"AVX512_CORE", "avx512bw"},
                                    {"AVX512_CORE_VNNI", "avx512_vnni"},
                                    {"AVX512_CORE_BF16", "avx512_bf16"},
                                    {"AVX512_CORE_FP16", "avx512_fp16"},
                                    {"AVX512_CORE_AMX", "amx_bf16"}}};

std::string upper_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string governors_text(const Cpu& cpu) { return fmt::format("{}", fmt::join(cpu.governors, ", ")); }

}  // namespace

std::vector<Sign> debug_build(const Inventory& machine) {
  if (machine.build.type == "Release" || machine.build.type == "RelWithDebInfo") return {};
  return {{fmt::format("the program was built with build type {}, without full optimisation",
                       machine.build.type.empty() ? "none" : machine.build.type),
           "cmake --preset release && cmake --build build/release"}};
}

std::vector<Sign> one_thread(const Inventory& machine) {
  // One thread is right within a quota of one core.
  if (runtime::within_quota(static_cast<int>(machine.cpu.allowed.size()), machine.cpu.quota_cores) < 2) return {};
  std::vector<Sign> signs;
  for (const char* const name : {"OMP_NUM_THREADS", "OMP_THREAD_LIMIT"}) {
    const auto found = machine.variables.find(name);
    if (found == machine.variables.end() || number_in(found->second) != 1.0) continue;
    signs.push_back({fmt::format("{}=1: compute uses one thread, although the process may use {} hardware threads",
                                 name, machine.cpu.allowed.size()),
                     fmt::format("unset {}", name)});
  }
  return signs;
}

std::vector<Sign> isa_limited(const Inventory& machine) {
  std::vector<Sign> signs;
  for (const char* const name : {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"}) {
    const auto found = machine.variables.find(name);
    if (found == machine.variables.end()) continue;
    const auto* const limit = std::ranges::find(kIsas, upper_case(found->second), &Isa::name);
    if (limit == kIsas.end()) continue;
    // The fastest instruction set that the CPU has
    const auto best = std::find_if(kIsas.rbegin(), kIsas.rend(), [&](const Isa& isa) {
      return std::ranges::find(machine.cpu.flags, isa.flag) != machine.cpu.flags.end();
    });
    if (best == kIsas.rend() || &*best <= limit) continue;
    signs.push_back({fmt::format("{}={} limits oneDNN, although the CPU has {}", name, found->second, best->name),
                     fmt::format("unset {}", name)});
  }
  return signs;
}

std::vector<Sign> cpu_quota(const Inventory& machine) {
  // The default number of threads is within the quota, so only a larger number that the user set does harm.
  const auto found = machine.variables.find("OMP_NUM_THREADS");
  const auto asked = found == machine.variables.end() ? std::nullopt : number_in(found->second);
  if (!asked || !machine.cpu.quota_cores) return {};
  const int best = runtime::within_quota(static_cast<int>(machine.cpu.allowed.size()), machine.cpu.quota_cores);
  if (*asked <= best) return {};
  return {{fmt::format("OMP_NUM_THREADS={}, but a control group limits CPU time to {:.3g} cores; compute threads will "
                       "wait for each other",
                       found->second, *machine.cpu.quota_cores),
           fmt::format("export OMP_NUM_THREADS={}, or start the container without --cpus", best)}};
}

std::vector<Sign> cores_few(const Inventory& machine) {
  const std::int64_t allowed = std::ssize(machine.cpu.allowed);
  if (allowed == 0 || allowed * 2 > machine.cpu.online) return {};
  return {{fmt::format("the process may use only {} of {} hardware threads", allowed, machine.cpu.online),
           "taskset -c, srun --cpus-per-task or mpirun --bind-to none, if this is not intended"}};
}

std::vector<Sign> governor_slow(const Inventory& machine) {
  const Cpu& cpu = machine.cpu;
  // With these drivers the CPU itself chooses clocks, and "powersave" is the usual governor.
  const bool is_automatic = cpu.scaling_driver == "intel_pstate" || cpu.scaling_driver == "amd-pstate-epp";
  const bool is_slow = std::ranges::any_of(cpu.governors, [&](const std::string& governor) {
    return governor == "conservative" || (governor == "powersave" && !is_automatic);
  });
  if (is_slow) {
    return {{fmt::format("CPU governor {} keeps clocks low", governors_text(cpu)),
             "cpupower frequency-set -g performance"}};
  }
  if (is_automatic && (cpu.energy_preference == "power" || cpu.energy_preference == "balance_power")) {
    return {{fmt::format("energy preference {} keeps clocks low", cpu.energy_preference),
             "cpupower set --epp performance"}};
  }
  return {};
}

std::vector<Sign> clock_limited(const Inventory& machine) {
  const Cpu& cpu = machine.cpu;
  constexpr double kLeastShare = 0.95;
  if (!cpu.mhz_limit || !cpu.mhz_max || *cpu.mhz_limit >= kLeastShare * *cpu.mhz_max) return {};
  return {{fmt::format("cores are limited to {:.0f} of {:.0f} MHz", *cpu.mhz_limit, *cpu.mhz_max),
           fmt::format("cpupower frequency-set -u {:.0f}MHz", *cpu.mhz_max)}};
}

std::vector<Sign> turbo_off(const Inventory& machine) {
  if (machine.cpu.is_turbo_allowed.value_or(true)) return {};
  return {{"turbo clocks are switched off", machine.cpu.scaling_driver == "intel_pstate"
                                                ? "echo 0 > /sys/devices/system/cpu/intel_pstate/no_turbo"
                                                : "echo 1 > /sys/devices/system/cpu/cpufreq/boost"}};
}

}  // namespace roentgen::doctor::ailments
