// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// CoreList: some of the cores, so that input and computing can be kept apart.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace roentgen::runtime {

/// Hardware threads by the system's numbers, ascending, each once.
using CoreList = std::vector<int>;

/// Cores that the calling thread may use.
[[nodiscard]] CoreList usable_cores();
/// Reads "0-3,8". ConfigError "[runtime.cores] ..." on another form and on numbers that the process may not use.
[[nodiscard]] CoreList parse_core_list(std::string_view text);
/// "0-3,8".
[[nodiscard]] std::string text_of(const CoreList& cores);
/// Cores that the process may use and that are not in `cores`, a result of parse_core_list(). Throws ConfigError where
/// that leaves none.
[[nodiscard]] CoreList other_cores(const CoreList& cores);
/// The hardware threads among `cores` of each physical core, in the machine's own order: packages, NUMA nodes, cores.
/// Empty where hwloc knows nothing.
[[nodiscard]] std::vector<CoreList> by_physical_core(const CoreList& cores);
/// Physical cores of the machine, as far as the system shows them.
[[nodiscard]] int machine_cores();
/// Cores that the process may use, as of its first thread at the first call.
[[nodiscard]] const CoreList& cores_of_process();
/// Number of physical cores among them, the right size for a team on them. At least 1.
[[nodiscard]] int physical_cores(const CoreList& cores);

/// `cores` in `parts` (at least 1) shares of neighbours, in the machine's own order: packages, NUMA nodes, cores.
/// Hardware threads of one core stay together, and shares differ by one core at most. Fewer cores than parts: a
/// hardware thread each, and where these are too few as well, some twice.
[[nodiscard]] std::vector<CoreList> shares_of(const CoreList& cores, int parts);
/// Binds this process permanently; call it before other threads exist. DeviceError when the system refuses.
void bind_process(const CoreList& cores);
/// Binds the calling thread, and threads that it starts, permanently. DeviceError when the system refuses.
void bind_thread(const CoreList& cores);

/// Binds the calling thread to some cores during its lifetime; threads started meanwhile stay bound. An empty list does
/// nothing.
class BoundToCores {
 public:
  /// DeviceError when the system refuses.
  explicit BoundToCores(const CoreList& cores);
  ~BoundToCores();
  BoundToCores(const BoundToCores&) = delete;
  BoundToCores& operator=(const BoundToCores&) = delete;

 private:
  CoreList before_;
};

}  // namespace roentgen::runtime
