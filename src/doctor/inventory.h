// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Inventory: hardware, drivers, libraries and limits of a machine that decide how fast Roentgen runs on it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/value.h"
#include "doctor/probe.h"
#include "runtime/stream.h"

namespace roentgen::doctor {

/// Fields that nvidia-smi prints for each GPU, in the order in which parse_gpus() reads them.
inline constexpr std::string_view kGpuFields =
    "index,name,pci.bus_id,driver_version,persistence_mode,compute_mode,ecc.errors.uncorrected.volatile.total,"
    "power.limit,power.default_limit,clocks.sm,clocks.max.sm,clocks_throttle_reasons.active,pcie.link.gen.current,"
    "pcie.link.gen.max,pcie.link.width.current,pcie.link.width.max,temperature.gpu";

/// Cores and their clocks.
struct Cpu {
  std::string model{};
  std::vector<std::string> flags{};        ///< instruction sets, as /proc/cpuinfo spells them
  std::vector<int> allowed{};              ///< hardware threads that this process may use
  std::int64_t online = 0;                 ///< hardware threads of the machine
  std::optional<double> quota_cores{};     ///< CPU time that the process's control group may use, in cores
  std::vector<std::string> governors{};    ///< distinct scaling governors
  std::string scaling_driver{};            ///< "intel_pstate"; empty if unknown
  std::string energy_preference{};         ///< "balance_performance"; empty if unknown
  std::optional<double> mhz_limit{};       ///< lowest maximum clock that is set for a core
  std::optional<double> mhz_max{};         ///< highest clock of that core
  std::optional<bool> is_turbo_allowed{};  ///< nullopt if unknown
};

/// NUMA node: memory with the cores near it.
struct NumaNode {
  int index = 0;
  std::vector<int> cpus{};  ///< hardware threads
  std::int64_t memory_bytes = 0;
};

/// Limits and settings of the operating system.
struct System {
  std::string kernel{};                         ///< "6.1.0-18-amd64"
  bool has_pidfd_open = true;                   ///< true if pidfd_open(2) works
  std::optional<std::int64_t> memlock_bytes{};  ///< memory that a process may lock; nullopt: no limit
  bool may_lock_any = false;                    ///< true if the process has CAP_IPC_LOCK, which no limit binds
  std::int64_t open_files = 0;                  ///< files that a process may have open; 0: unknown
  std::string transparent_huge_pages{};         ///< "always", "madvise" or "never"
  std::int64_t huge_pages = 0;                  ///< huge pages that are reserved
  bool is_numa_balancing = false;               ///< true if the kernel moves memory between NUMA nodes
  std::int64_t memory_bytes = 0;
  std::optional<std::int64_t> memory_limit_bytes{};  ///< memory that the process's control group may use
};

/// File system with a use that does not name its path.
struct NamedFileSystem {
  std::string use{};  ///< "working folder", "temporary files" or "shared memory"
  FileSystem system{};
};

/// PCI device of a kind that matters for training.
struct PciDevice {
  std::string bus{};   ///< address, such as "0000:3b:00.0"
  std::string kind{};  ///< "gpu", "network" or "nvme"
  bool is_infiniband = false;
  std::string id{};  ///< vendor and device, such as "10de:2330"
  std::string driver{};
  int numa_node = -1;  ///< -1: unknown
  std::string speed{};
  std::string max_speed{};  ///< "32.0 GT/s PCIe"
  std::string width{};
  std::string max_width{};   ///< number of lanes, such as "16"
  std::string slot_width{};  ///< lanes of the port that the device is connected to; empty if unknown
};

/// Properties of a GPU that its driver reports. nullopt: the driver does not report it.
struct Gpu {
  int index = 0;
  std::string name{};
  std::string bus{};
  std::string driver{};
  std::optional<bool> is_persistent{};
  std::string compute_mode{};                ///< "Default", "Exclusive_Process" or "Prohibited"
  std::optional<std::int64_t> ecc_errors{};  ///< uncorrected errors of its memory since the driver was loaded
  std::optional<double> power_limit_w{};
  std::optional<double> default_power_limit_w{};
  std::optional<double> clock_mhz{};
  std::optional<double> max_clock_mhz{};
  std::int64_t throttle_reasons = 0;  ///< bits by nvml.h, nvmlClocksEventReasons
  std::optional<std::int64_t> link_generation{};
  std::optional<std::int64_t> max_link_generation{};
  std::optional<std::int64_t> link_lanes{};
  std::optional<std::int64_t> max_link_lanes{};
  std::optional<std::int64_t> temperature_c{};
};

/// Port of an InfiniBand or RoCE adapter.
struct Port {
  std::string adapter{};  ///< "mlx5_0"
  int number = 1;
  std::string state{};     ///< "ACTIVE", "INIT" or "DOWN"
  std::string physical{};  ///< "LinkUp"
  std::string rate{};      ///< "200 Gb/sec (4X HDR)"
  std::string layer{};     ///< "InfiniBand" or "Ethernet"
  std::string firmware{};
};

/// Everything that the ailments look at.
struct Inventory {
  Build build{};
  Cpu cpu{};
  std::int64_t local_ranks = 1;  ///< processes of this host that mpirun or srun started together with this one
  std::vector<NumaNode> nodes{};
  System system{};
  std::vector<NamedFileSystem> file_systems{};
  std::vector<PciDevice> pci{};
  std::vector<Gpu> gpus{};  ///< GPUs that nvidia-smi lists
  runtime::CudaInventory cuda{};
  std::string cuda_engine_failure{};               ///< error of making the CUDA engine; empty if there is none
  std::vector<std::string> gpu_links{};            ///< lines of nvidia-smi topo -m
  std::map<std::string, std::string> libraries{};  ///< names such as "cuDNN" with versions, of those found
  std::string mpirun{};                            ///< first line with the version of mpirun; empty if absent
  std::string ofed{};                              ///< version of OFED; empty if absent
  bool has_peer_memory = false;                    ///< true if the kernel module for GPUDirect RDMA is loaded
  std::vector<Port> ports{};
  std::map<std::string, std::string> variables{};  ///< variables of kVariables (inventory.cpp) that are set
};

/// Takes the inventory of a machine. Does not throw if parts of it are unknown.
[[nodiscard]] Inventory take_inventory(const Probe& probe);

/// Parses the output of nvidia-smi for kGpuFields. Skips lines of another form.
[[nodiscard]] std::vector<Gpu> parse_gpus(std::string_view text);
/// Parses a list of cores such as "0-3,8". Returns an empty list for another form.
[[nodiscard]] std::vector<int> parse_cpu_list(std::string_view text);

/// Returns the inventory as tables, without names of hosts and users, network addresses and paths. Unknown values are
/// null.
[[nodiscard]] Value to_value(const Inventory& inventory);

}  // namespace roentgen::doctor
