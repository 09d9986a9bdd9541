// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The only list of ailments. X(name, level) declares `std::vector<Sign> name(const Inventory&)`, which a file of
// doctor/ailments/ defines. A new ailment needs that function, one line here, and a planted machine in
// ailment_list_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/inventory.h"

// Wrong: runs fail, or reach a fraction of the machine's speed. Advice: a setting that costs a few percent, or matters
// in some runs only.
#define RG_AILMENT_LIST(X)       \
  X(debug_build, Wrong)          \
  X(kernel_old, Wrong)           \
  X(one_thread, Wrong)           \
  X(isa_limited, Wrong)          \
  X(cpu_quota, Wrong)            \
  X(cores_few, Advice)           \
  X(governor_slow, Wrong)        \
  X(clock_limited, Wrong)        \
  X(turbo_off, Advice)           \
  X(memory_limited, Advice)      \
  X(numa_balancing, Advice)      \
  X(huge_pages_off, Advice)      \
  X(open_files_few, Wrong)       \
  X(shared_memory_small, Wrong)  \
  X(temporary_full, Wrong)       \
  X(mpirun_other, Wrong)         \
  X(driver_missing, Wrong)       \
  X(gpus_withheld, Advice)       \
  X(cuda_missing, Wrong)         \
  X(cuda_engine_missing, Wrong)  \
  X(gpus_hidden, Advice)         \
  X(gpus_mixed, Advice)          \
  X(launches_blocking, Wrong)    \
  X(gpu_prohibited, Wrong)       \
  X(gpu_memory_errors, Wrong)    \
  X(gpu_hot, Wrong)              \
  X(gpu_power_limited, Advice)   \
  X(gpu_link_narrow, Wrong)      \
  X(gpu_not_persistent, Advice)  \
  X(gpu_far, Wrong)              \
  X(nccl_missing, Wrong)         \
  X(nccl_paths_off, Wrong)       \
  X(port_down, Wrong)            \
  X(port_narrow, Wrong)          \
  X(memlock_small, Wrong)        \
  X(verbs_missing, Wrong)        \
  X(ucx_missing, Advice)         \
  X(peer_memory_missing, Advice) \
  X(pci_narrow, Wrong)

namespace roentgen::doctor {

/// Weight of a finding. Only `Wrong` makes `roentgen doctor` exit with an error.
enum class Level : std::uint8_t { Advice, Wrong };

/// One occurrence of an ailment.
struct Sign {
  std::string text{};            ///< sentence without a full stop, with the values that were found
  std::string remedy{};          ///< line for a shell, or an instruction
  std::optional<Level> level{};  ///< level of this occurrence, if it differs from that of the ailment
};

namespace ailments {
#define RG_DECLARE_AILMENT(name, level) [[nodiscard]] std::vector<Sign> name(const Inventory& machine);
RG_AILMENT_LIST(RG_DECLARE_AILMENT)
#undef RG_DECLARE_AILMENT
}  // namespace ailments

/// An ailment that was found.
struct Finding {
  std::string_view ailment{};  ///< name in RG_AILMENT_LIST
  Level level = Level::Wrong;
  Sign sign{};
};

/// Returns everything that is wrong with a machine, in the order of the list.
[[nodiscard]] std::vector<Finding> find_ailments(const Inventory& machine);
/// Returns the names of all ailments, in the order of the list.
[[nodiscard]] std::vector<std::string_view> ailment_names();
/// True if any finding is Level::Wrong.
[[nodiscard]] bool has_wrong(const std::vector<Finding>& findings);
/// Returns [{ailment, level: "wrong" or "advice", text, remedy}].
[[nodiscard]] Value to_value(const std::vector<Finding>& findings);

}  // namespace roentgen::doctor
