// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Ailments of network adapters and their libraries.
#include <fmt/format.h>

#include <algorithm>

#include "doctor/ailment_list.h"
#include "doctor/parse.h"

namespace roentgen::doctor::ailments {
namespace {

bool is_active(const Port& port) { return port.state == "ACTIVE"; }
bool has_active_port(const Inventory& machine) { return std::ranges::any_of(machine.ports, is_active); }

/// Level of a sign about RDMA. Most Ethernet adapters that can do RDMA are used for TCP only, also by cloud machines.
std::optional<Level> rdma_level(const Inventory& machine) {
  const bool has_infiniband =
      std::ranges::any_of(machine.ports, [](const Port& port) { return port.layer == "InfiniBand"; });
  return has_infiniband ? std::nullopt : std::optional(Level::Advice);
}
std::string name_of(const Port& port) { return fmt::format("port {} of {}", port.number, port.adapter); }

}  // namespace

std::vector<Sign> nccl_missing(const Inventory& machine) {
  if (machine.cuda.devices.size() < 2 || machine.libraries.contains("NCCL")) return {};
  return {{fmt::format("NCCL is missing: {} GPUs average gradients through host memory", machine.cuda.devices.size()),
           "install NCCL (libnccl2), and its header before the build"}};
}

std::vector<Sign> nccl_paths_off(const Inventory& machine) {
  std::vector<Sign> signs;
  for (const char* const name : {"NCCL_IB_DISABLE", "NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE"}) {
    const auto found = machine.variables.find(name);
    if (found == machine.variables.end() || found->second == "0") continue;
    const bool is_network = std::string_view(name) == "NCCL_IB_DISABLE";
    if (is_network ? !has_active_port(machine) : machine.cuda.devices.size() < 2) continue;
    signs.push_back({fmt::format("{}={} switches off a fast path between GPUs", name, found->second),
                     fmt::format("unset {}", name)});
  }
  return signs;
}

std::vector<Sign> port_down(const Inventory& machine) {
  std::vector<Sign> signs;
  for (const Port& port : machine.ports) {
    if (is_active(port)) continue;
    // A port without a cable is usual; one that has a link but no subnet manager is not.
    if (port.physical == "LinkUp") {
      signs.push_back({fmt::format("{} has a link but is in state {}", name_of(port), port.state),
                       "start a subnet manager: systemctl start opensm"});
    }
  }
  if (signs.empty() && !machine.ports.empty() && !has_active_port(machine)) {
    signs.push_back({fmt::format("none of {} InfiniBand or RoCE ports is active", machine.ports.size()),
                     "check cables and switch: ibstat", rdma_level(machine)});
  }
  return signs;
}

std::vector<Sign> port_narrow(const Inventory& machine) {
  std::vector<Sign> signs;
  for (const Port& port : machine.ports) {
    if (!is_active(port) || port.layer != "InfiniBand" || port.rate.find("(1X") == std::string::npos) continue;
    signs.push_back(
        {fmt::format("{} uses one of four lanes: {}", name_of(port), port.rate), "seat the cable again or replace it"});
  }
  return signs;
}

std::vector<Sign> memlock_small(const Inventory& machine) {
  constexpr std::int64_t kLeast_bytes = std::int64_t{1} << 30;
  const auto& limit = machine.system.memlock_bytes;
  if (!has_active_port(machine) || machine.system.may_lock_any || !limit || *limit >= kLeast_bytes) return {};
  return {{fmt::format("a process may lock only {:.0f} KiB of memory, too few for RDMA",
                       static_cast<double>(*limit) / 1024.0),
           "ulimit -l unlimited, or docker run --ulimit memlock=-1 --cap-add IPC_LOCK", rdma_level(machine)}};
}

std::vector<Sign> verbs_missing(const Inventory& machine) {
  if (!has_active_port(machine) || machine.libraries.contains("libibverbs")) return {};
  return {{"libibverbs is missing: MPI and NCCL cannot use the InfiniBand or RoCE adapter",
           "apt-get install libibverbs1 ibverbs-providers", rdma_level(machine)}};
}

std::vector<Sign> ucx_missing(const Inventory& machine) {
  if (!has_active_port(machine) || !machine.libraries.contains("MPI") || machine.libraries.contains("UCX")) return {};
  return {{"UCX is missing: most MPI libraries use InfiniBand through it", "apt-get install libucx0"}};
}

std::vector<Sign> peer_memory_missing(const Inventory& machine) {
  if (!has_active_port(machine) || machine.gpus.empty() || machine.has_peer_memory) return {};
  return {{"the kernel module nvidia_peermem is not loaded: without it, or DMA-BUF, GPUDirect RDMA is off",
           "modprobe nvidia_peermem"}};
}

std::vector<Sign> pci_narrow(const Inventory& machine) {
  std::vector<Sign> signs;
  for (const PciDevice& device : machine.pci) {
    if (device.kind == "gpu") continue;  // gpu_link_narrow() reports it
    constexpr double kMostLanes = 32.0;  // larger numbers mean that the link is down
    const double lanes = number_in(device.width).value_or(0.0);
    const double most = number_in(device.max_width).value_or(0.0);
    if (lanes <= 0.0 || most > kMostLanes || lanes >= most) continue;
    signs.push_back({fmt::format("the {} device at {} is connected by {:.0f} of {:.0f} PCIe lanes", device.kind,
                                 device.bus, lanes, most),
                     "move it to a slot with all lanes",
                     // Many disks and Ethernet adapters have more lanes than they need.
                     device.is_infiniband ? std::nullopt : std::optional(Level::Advice)});
  }
  return signs;
}

}  // namespace roentgen::doctor::ailments
