// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "runtime/near_cores.h"

#include <hwloc.h>

#include <algorithm>
#include <iterator>

#include "core/error.h"

namespace roentgen::runtime {

CoreList near_cores(const CoreList& cores, const std::string& bus) {
  CoreList found;
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return found;
  static_cast<void>(hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT));
  if (hwloc_topology_load(topology) == 0) {
    const hwloc_obj_t device = hwloc_get_pcidev_by_busidstring(topology, bus.c_str());
    const hwloc_obj_t place = device == nullptr ? nullptr : hwloc_get_non_io_ancestor_obj(topology, device);
    if (place != nullptr && place->cpuset != nullptr) {
      std::ranges::copy_if(cores, std::back_inserter(found), [&](int core) {
        return hwloc_bitmap_isset(place->cpuset, static_cast<unsigned>(core)) != 0;
      });
    }
  }
  hwloc_topology_destroy(topology);
  return found;
}

std::vector<CoreList> shares_near(const CoreList& cores, const std::vector<CoreList>& near) {
  RG_ASSERT(!near.empty());
  if (std::ranges::any_of(near, &CoreList::empty)) return shares_of(cores, static_cast<int>(near.size()));
  std::vector<CoreList> shares(near.size());
  for (std::size_t i = 0; i < near.size(); ++i) {
    if (!shares[i].empty()) continue;
    std::vector<CoreList> parts = shares_of(near[i], static_cast<int>(std::ranges::count(near, near[i])));
    auto part = parts.begin();
    for (std::size_t other = i; other < near.size(); ++other) {
      if (near[other] == near[i]) shares[other] = std::move(*part++);
    }
  }
  return shares;
}

}  // namespace roentgen::runtime
