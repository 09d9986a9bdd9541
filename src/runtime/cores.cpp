// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "runtime/cores.h"

#include <fmt/format.h>
#include <hwloc.h>

#include <algorithm>
#include <cstdlib>

#include "core/log.h"
#include "core/plural.h"
#include "runtime/cpu_quota.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace roentgen::runtime {
namespace {
struct Available {
  int cores = 1;  // without regard to the CPU quota
  int hardware_threads = 1;
};

/// Returns the available cores, which are determined once per process.
const Available& available() {
  static const Available found = [] {
    Available result;
    hwloc_topology_t topology = nullptr;
    if (hwloc_topology_init(&topology) != 0) return result;
    hwloc_bitmap_t mask = hwloc_bitmap_alloc();
    if (hwloc_topology_load(topology) == 0 && hwloc_get_cpubind(topology, mask, HWLOC_CPUBIND_PROCESS) == 0) {
      int count = 0;
      const int all = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
      for (int i = 0; i < all; ++i) {
        const hwloc_obj_t core = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, static_cast<unsigned>(i));
        if (hwloc_bitmap_intersects(core->cpuset, mask) != 0) ++count;
      }
      result.cores = std::max(count, 1);
      result.hardware_threads = std::max(hwloc_bitmap_weight(mask), result.cores);
    }
    hwloc_bitmap_free(mask);
    hwloc_topology_destroy(topology);
    return result;
  }();
  return found;
}
}  // namespace

int available_cores() { return within_quota(available().cores, cpu_quota_cores()); }
std::string available_cores_text() {
  const int cores = available_cores();
  std::string text = counted(cores, "core");
  return cores < available().cores ? text + fmt::format(" (CPU quota {:.3g})", *cpu_quota_cores()) : text;
}
int available_hardware_threads() { return available().hardware_threads; }

long asked_compute_threads() {
  const char* asked = std::getenv("OMP_NUM_THREADS");
  return asked == nullptr ? 0 : std::max(std::strtol(asked, nullptr, 10), 0L);
}

int default_compute_threads() {
  const long threads = asked_compute_threads();
  if (threads < 1) return available_cores();
  const int most = available_hardware_threads();
  if (threads <= most) return static_cast<int>(threads);
  static const bool is_told = [most] {
    log::warning(fmt::format("OMP_NUM_THREADS={}: computing with {} threads, all that this process may use",
                             std::getenv("OMP_NUM_THREADS"), most));
    return true;
  }();
  static_cast<void>(is_told);
  return most;
}

void flush_denormals_to_zero() {
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0x8040U);
#endif
}

}  // namespace roentgen::runtime
