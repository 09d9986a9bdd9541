// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "runtime/cores.h"

#include <hwloc.h>

#include <algorithm>
#include <cstdlib>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace roentgen::runtime {

int available_cores() {
  static const int cores = [] {
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) != 0) return 1;
    int count = 0;
    hwloc_bitmap_t mask = hwloc_bitmap_alloc();
    if (hwloc_topology_load(topology) == 0 && hwloc_get_cpubind(topology, mask, HWLOC_CPUBIND_PROCESS) == 0) {
      const int all = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
      for (int i = 0; i < all; ++i) {
        const hwloc_obj_t core = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, static_cast<unsigned>(i));
        if (hwloc_bitmap_intersects(core->cpuset, mask) != 0) ++count;
      }
    }
    hwloc_bitmap_free(mask);
    hwloc_topology_destroy(topology);
    return std::max(count, 1);
  }();
  return cores;
}

int default_compute_threads() {
  const char* asked = std::getenv("OMP_NUM_THREADS");
  const int threads = asked == nullptr ? 0 : std::atoi(asked);
  return threads > 0 ? threads : available_cores();
}

void flush_denormals_to_zero() {
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040U);
#endif
}

}  // namespace roentgen::runtime
