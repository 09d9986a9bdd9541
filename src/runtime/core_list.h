// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// CoreList: a set of CPU cores, for example to keep reading images and computing on separate cores.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roentgen::runtime {

/// Hardware threads by the numbers that the system gives them, ascending and distinct.
using CoreList = std::vector<int>;

/// Returns the cores that the calling thread may use.
[[nodiscard]] CoreList usable_cores();
/// Parses a list such as "0-3,8". Throws ConfigError "[runtime.cores] ..." for another form and for cores that the
/// process may not use.
[[nodiscard]] CoreList parse_core_list(std::string_view text);
/// Parses a list in the same form, without regard to the cores that the process may use.
[[nodiscard]] CoreList parse_core_numbers(std::string_view text);
/// Formats a list as "0-3,8".
[[nodiscard]] std::string text_of(const CoreList& cores);
/// Returns the cores that the process may use but that are not in `cores`, a result of parse_core_list(). Throws
/// ConfigError if there are none.
[[nodiscard]] CoreList other_cores(const CoreList& cores);
/// Groups the hardware threads in `cores` by physical core. The order is that of the machine: packages, NUMA nodes,
/// cores. Returns an empty list if hwloc has no information.
[[nodiscard]] std::vector<CoreList> by_physical_core(const CoreList& cores);
/// Units of hardware that have memory of their own.
enum class CoreUnit : std::uint8_t { Socket, NumaNode };
/// Groups `cores` by socket or NUMA node, in the order of the machine. Cores that hwloc knows in no unit form a last
/// group, so without information there is one group.
[[nodiscard]] std::vector<CoreList> by_unit(const CoreList& cores, CoreUnit unit);
/// Number of physical cores of the machine that the system shows.
[[nodiscard]] int machine_cores();
/// Cores that the process may use: those of its first thread when this function is first called.
[[nodiscard]] const CoreList& cores_of_process();
/// Number of physical cores that contain `cores`, limited by the CPU quota of the process. It is the best size for a
/// compute team on them. At least 1.
[[nodiscard]] int physical_cores(const CoreList& cores);

/// Returns the first of `cores` that a CPU quota lets one of several processes keep busy; `cores` without a quota.
/// @param quota_cores quota of all processes together (cpu_quota.h)
[[nodiscard]] CoreList cores_within_quota(const CoreList& cores, std::optional<double> quota_cores, int processes);

/// Divides `cores` into `parts` (at least 1) groups of neighbours, in the order of the machine: packages, NUMA nodes,
/// cores. Hardware threads of one core stay together, and group sizes differ by at most one core. If there are fewer
/// cores than parts, each group gets one hardware thread; some threads are used twice if necessary.
[[nodiscard]] std::vector<CoreList> shares_of(const CoreList& cores, int parts);
/// Divides cores like shares_of(), but each group stays within a unit, if `parts` is a multiple of the number of units.
[[nodiscard]] std::vector<CoreList> shares_of_units(const CoreList& cores, int parts, CoreUnit unit);
/// Binds this process permanently to cores. Call it before other threads exist. Throws DeviceError if the system
/// refuses.
void bind_process(const CoreList& cores);
/// Binds the calling thread, and threads that it starts, permanently to cores. Throws DeviceError if the system
/// refuses.
void bind_thread(const CoreList& cores);

/// Binds the calling thread to cores for the lifetime of this object. Threads started in this time stay bound. An empty
/// list does nothing.
class BoundToCores {
 public:
  /// Binds the thread. Throws DeviceError if the system refuses.
  explicit BoundToCores(const CoreList& cores);
  ~BoundToCores();
  BoundToCores(const BoundToCores&) = delete;
  BoundToCores& operator=(const BoundToCores&) = delete;

 private:
  CoreList before_;
};

}  // namespace roentgen::runtime
