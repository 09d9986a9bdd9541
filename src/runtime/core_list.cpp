// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "runtime/core_list.h"

#include <fmt/format.h>
#include <hwloc.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>
#include <set>

#include "core/comma_list.h"
#include "core/error.h"
#include "core/log.h"
#include "runtime/cores.h"
#include "runtime/cpu_quota.h"

namespace roentgen::runtime {
namespace {

constexpr std::string_view kThing = "runtime.cores";

CoreList mask_of(pid_t thread) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CoreList cores;
  if (::sched_getaffinity(thread, sizeof(mask), &mask) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &mask) != 0) cores.push_back(core);
  }
  return cores;
}

bool set_mask(const CoreList& cores) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int core : cores) CPU_SET(core, &mask);
  return ::sched_setaffinity(0, sizeof(mask), &mask) == 0;
}

// Groups cores by hwloc's objects of a type; empty if hwloc has no information.
std::vector<CoreList> grouped(const CoreList& cores, hwloc_obj_type_t type) {
  std::vector<CoreList> groups;
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return groups;
  if (hwloc_topology_load(topology) == 0) {
    const int all = hwloc_get_nbobjs_by_type(topology, type);
    for (int i = 0; i < all; ++i) {
      const hwloc_obj_t object = hwloc_get_obj_by_type(topology, type, static_cast<unsigned>(i));
      CoreList threads;
      std::ranges::copy_if(cores, std::back_inserter(threads), [&](int thread) {
        return hwloc_bitmap_isset(object->cpuset, static_cast<unsigned>(thread)) != 0;
      });
      if (!threads.empty()) groups.push_back(std::move(threads));
    }
  }
  hwloc_topology_destroy(topology);
  return groups;
}

[[noreturn]] void refuse(std::string_view expected, std::string_view got) {
  throw ConfigError(error_text(kThing, "cores", expected, got, "some of " + text_of(cores_of_process())));
}

int number_of(std::string_view text, std::string_view whole) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0)
    refuse("core numbers such as 0-3,8", whole);
  return number;
}

}  // namespace

CoreList usable_cores() { return mask_of(0); }

const CoreList& cores_of_process() {
  static const CoreList cores = mask_of(::getpid());
  return cores;
}

CoreList parse_core_numbers(std::string_view text) {
  std::set<int> cores;
  for (const std::string_view part : comma_parts(text)) {
    const auto dash = part.find('-');
    const int first = number_of(part.substr(0, dash), text);
    const int last = dash == std::string_view::npos ? first : number_of(part.substr(dash + 1), text);
    if (last < first || last >= CPU_SETSIZE) refuse("core numbers such as 0-3,8", text);
    for (int core = first; core <= last; ++core) cores.insert(core);
  }
  return {cores.begin(), cores.end()};
}

CoreList parse_core_list(std::string_view text) {
  CoreList list = parse_core_numbers(text);
  if (!std::ranges::includes(cores_of_process(), list)) refuse("cores that the process may use", text);
  return list;
}

std::string text_of(const CoreList& cores) {
  std::string text;
  for (std::size_t i = 0; i < cores.size();) {
    std::size_t end = i + 1;
    while (end < cores.size() && cores[end] == cores[end - 1] + 1) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ",", cores[i]);
    if (end - i > 1) text += fmt::format("-{}", cores[end - 1]);
    i = end;
  }
  return text;
}

CoreList other_cores(const CoreList& cores) {
  CoreList others;
  std::ranges::set_difference(cores_of_process(), cores, std::back_inserter(others));
  if (others.empty()) refuse("at least one core left for other work", "all of " + text_of(cores));
  return others;
}

std::vector<CoreList> by_physical_core(const CoreList& cores) { return grouped(cores, HWLOC_OBJ_CORE); }

std::vector<CoreList> by_unit(const CoreList& cores, CoreUnit unit) {
  std::vector<CoreList> units;
  CoreList left = cores;  // two NUMA nodes may have the same cores, and the first one gets them
  for (const CoreList& group : grouped(cores, unit == CoreUnit::Socket ? HWLOC_OBJ_PACKAGE : HWLOC_OBJ_NUMANODE)) {
    CoreList rest, own;
    std::ranges::set_difference(left, group, std::back_inserter(rest));
    std::ranges::set_difference(left, rest, std::back_inserter(own));
    left = std::move(rest);
    if (!own.empty()) units.push_back(std::move(own));
  }
  if (!left.empty()) units.push_back(std::move(left));
  return units;
}

int machine_cores() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return 0;
  const int cores = hwloc_topology_load(topology) == 0 ? hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE) : 0;
  hwloc_topology_destroy(topology);
  return cores;
}

int physical_cores(const CoreList& cores) {
  return within_quota(static_cast<int>(by_physical_core(cores).size()), cpu_quota_cores());
}

CoreList cores_within_quota(const CoreList& cores, std::optional<double> quota_cores, int processes) {
  const std::vector<CoreList> all = by_physical_core(cores);
  const auto most = static_cast<std::size_t>(within_quota(static_cast<int>(all.size()), quota_cores, processes));
  if (most >= all.size()) return cores;
  CoreList kept;
  for (std::size_t i = 0; i < most; ++i) kept.insert(kept.end(), all[i].begin(), all[i].end());
  std::ranges::sort(kept);
  return kept;
}

std::vector<CoreList> shares_of(const CoreList& cores, int parts) {
  RG_ASSERT(parts >= 1 && !cores.empty());
  const auto count = static_cast<std::size_t>(parts);
  std::vector<CoreList> units = by_physical_core(cores);
  if (units.size() < count) {
    units.clear();
    for (const int core : cores) units.push_back({core});
  }
  std::vector<CoreList> shares(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (units.size() < count) {
      shares[i] = units[i % units.size()];
      continue;
    }
    for (std::size_t unit = i * units.size() / count; unit < (i + 1) * units.size() / count; ++unit) {
      shares[i].insert(shares[i].end(), units[unit].begin(), units[unit].end());
    }
    std::ranges::sort(shares[i]);
  }
  return shares;
}

std::vector<CoreList> shares_of_units(const CoreList& cores, int parts, CoreUnit unit) {
  RG_ASSERT(parts >= 1 && !cores.empty());
  const std::vector<CoreList> units = by_unit(cores, unit);
  const auto count = static_cast<int>(units.size());
  if (parts % count != 0) return shares_of(cores, parts);
  std::vector<CoreList> shares;
  for (const CoreList& each : units) std::ranges::move(shares_of(each, parts / count), std::back_inserter(shares));
  return shares;
}

void bind_process(const CoreList& cores) { bind_thread(cores); }

void bind_thread(const CoreList& cores) {
  if (set_mask(cores)) return;
  throw DeviceError(error_text(kThing, text_of(cores), "cores that a process can be bound to", std::strerror(errno),
                               "a launch without --ranks"));
}

BoundToCores::BoundToCores(const CoreList& cores) {
  if (cores.empty()) return;
  static_cast<void>(cores_of_process());
  // counts the available cores before this thread is bound, because the count is determined only once
  static_cast<void>(available_cores());
  before_ = usable_cores();
  if (set_mask(cores)) return;
  throw DeviceError(
      error_text(kThing, text_of(cores), "cores that a thread can be bound to", std::strerror(errno), "other cores"));
}

BoundToCores::~BoundToCores() {
  if (!before_.empty() && !set_mask(before_)) log::warning("a thread stays bound to cores: " + text_of(usable_cores()));
}

}  // namespace roentgen::runtime
