// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "runtime/near_cores.h"

#include <fmt/format.h>
#include <hwloc.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>

#include "core/error.h"

namespace roentgen::runtime {
namespace {

// Returns the cores in the NUMA node or package of a PCI device, ascending. Includes cores that control groups forbid:
// if all cores of a package are forbidden, hwloc would otherwise attach its devices to the whole machine. Empty if
// hwloc does not know the device.
CoreList cores_around(const std::string& bus) {
  CoreList found;
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return found;
  static_cast<void>(hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT));
  static_cast<void>(hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED));
  if (hwloc_topology_load(topology) == 0) {
    const hwloc_obj_t device = hwloc_get_pcidev_by_busidstring(topology, bus.c_str());
    const hwloc_obj_t place = device == nullptr ? nullptr : hwloc_get_non_io_ancestor_obj(topology, device);
    if (place != nullptr && place->cpuset != nullptr) {
      for (int core = hwloc_bitmap_first(place->cpuset); core >= 0; core = hwloc_bitmap_next(place->cpuset, core)) {
        found.push_back(core);
      }
    }
  }
  hwloc_topology_destroy(topology);
  return found;
}

std::ptrdiff_t common(const CoreList& cores, const CoreList& near) {
  return std::ranges::count_if(cores, [&](int core) { return std::ranges::binary_search(near, core); });
}

// Returns the reason why processes cannot get only cores near their devices; empty if they can.
std::string why_equal(const CoreList& cores, const std::vector<CoreList>& near) {
  if (std::ranges::any_of(near, &CoreList::empty)) return "no core near a GPU, or its place is unknown";
  std::ptrdiff_t least = std::numeric_limits<std::ptrdiff_t>::max();
  for (const CoreList& own : near) {
    for (const CoreList& other : near) {
      if (own != other && common(own, other) > 0) return "the same cores are near GPUs at different places";
    }
    least = std::min(least, std::ssize(own) / std::ranges::count(near, own));
  }
  const std::ptrdiff_t equal = std::ssize(cores) / std::ssize(near);
  if (2 * least >= equal) return {};
  return fmt::format("the number of a rank's cores near its GPU would be {} instead of {}", least, equal);
}

// Distributes equal parts of the cores. Processes with the fewest near cores choose first; those with none, last.
std::vector<CoreList> chosen_shares(std::vector<CoreList> parts, const std::vector<CoreList>& near) {
  std::vector<std::size_t> order(near.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return near[i].size() - 1; });  // 0 - 1 is the largest
  std::vector<CoreList> shares(near.size());
  for (const std::size_t i : order) {
    const auto best = std::ranges::max_element(parts, {}, [&](const CoreList& part) { return common(part, near[i]); });
    shares[i] = std::move(*best);
    parts.erase(best);
  }
  return shares;
}

}  // namespace

CoreList near_cores(const CoreList& cores, const std::string& bus) {
  CoreList found;
  std::ranges::set_intersection(cores, cores_around(bus), std::back_inserter(found));
  return found;
}

bool is_far(const CoreList& cores, const std::string& bus) {
  const CoreList near = cores_around(bus);
  return !near.empty() && common(cores, near) == 0;
}

std::vector<CoreList> equal_shares(const CoreList& cores, int parts, std::optional<CoreUnit> unit) {
  return unit ? shares_of_units(cores, parts, *unit) : shares_of(cores, parts);
}

NearShares shares_near(const CoreList& cores, const std::vector<CoreList>& near, std::optional<CoreUnit> unit) {
  RG_ASSERT(!near.empty());
  NearShares shares{.cores = std::vector<CoreList>(near.size()), .why_equal = why_equal(cores, near)};
  if (!shares.why_equal.empty()) {
    shares.cores = chosen_shares(equal_shares(cores, static_cast<int>(near.size()), unit), near);
    return shares;
  }
  for (std::size_t i = 0; i < near.size(); ++i) {
    if (!shares.cores[i].empty()) continue;
    std::vector<CoreList> parts = shares_of(near[i], static_cast<int>(std::ranges::count(near, near[i])));
    auto part = parts.begin();
    for (std::size_t other = i; other < near.size(); ++other) {
      if (near[other] == near[i]) shares.cores[other] = std::move(*part++);
    }
  }
  return shares;
}

}  // namespace roentgen::runtime
