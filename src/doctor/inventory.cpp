// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "doctor/inventory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "doctor/parse.h"
#include "runtime/cpu_quota.h"

namespace roentgen::doctor {
namespace {

using std::filesystem::path;

/// Variables that change threads, kernels or devices.
constexpr std::array kVariables{"OMP_NUM_THREADS",   "OMP_THREAD_LIMIT", "ONEDNN_MAX_CPU_ISA",   "DNNL_MAX_CPU_ISA",
                                "OMP_PROC_BIND",     "OMP_PLACES",       "CUDA_VISIBLE_DEVICES", "CUDA_LAUNCH_BLOCKING",
                                "NCCL_IB_DISABLE",   "NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE",     "NCCL_NET_GDR_LEVEL",
                                "CUDA_DEVICE_ORDER", "NCCL_DEBUG"};
const path kCpus = "/sys/devices/system/cpu";

/// Returns the file of a control group's limit: of version 2, else of version 1. `names` are the two file names.
std::optional<std::string> group_limit(const Probe& probe, std::string_view controller,
                                       const std::array<std::string_view, 2>& names) {
  const std::string groups = probe.read("/proc/self/cgroup").value_or("");
  for (const std::string_view line : lines_of(groups)) {
    const auto parts = split(line, ':');  // "0::/user.slice" or "4:cpu,cpuacct:/docker/3f"
    if (parts.size() != 3) continue;
    const bool is_second = parts[1].empty();
    const auto controllers = split(parts[1], ',');
    if (!is_second && std::ranges::find(controllers, controller) == controllers.end()) continue;
    const path root = is_second ? path("/sys/fs/cgroup") : path("/sys/fs/cgroup") / controller;
    const std::string_view name = names[is_second ? 0 : 1];
    // A container sees its own group as the root, where its path of the host does not exist.
    for (const path& folder : {root / std::string(parts[2].substr(std::min<std::size_t>(1, parts[2].size()))), root}) {
      if (auto text = probe.read(folder / name)) return text;
    }
  }
  return std::nullopt;
}

std::optional<std::int64_t> memory_limit(const Probe& probe) {
  const auto text = group_limit(probe, "memory", {"memory.max", "memory.limit_in_bytes"});
  const auto limit = text ? number_in(*text) : std::nullopt;
  constexpr double kNone = 1e18;  // version 1 writes nearly 2^63 for no limit
  return limit && *limit < kNone ? std::optional(static_cast<std::int64_t>(*limit)) : std::nullopt;
}

void add_clocks(const Probe& probe, Cpu& cpu) {
  std::set<std::string> governors;
  for (const std::string& name : probe.list(kCpus)) {
    if (!name.starts_with("cpu") || name.find_first_not_of("0123456789", 3) != std::string::npos) continue;
    const path folder = kCpus / name / "cpufreq";
    if (const auto governor = probe.read(folder / "scaling_governor")) governors.insert(*governor);
    const auto limit = number_in(probe.read(folder / "scaling_max_freq").value_or(""));
    const auto most = number_in(probe.read(folder / "cpuinfo_max_freq").value_or(""));
    if (!limit || !most || *most <= 0.0) continue;
    if (cpu.mhz_limit && *cpu.mhz_limit / *cpu.mhz_max <= *limit / *most) continue;
    cpu.mhz_limit = *limit / 1000.0;
    cpu.mhz_max = *most / 1000.0;
  }
  cpu.governors.assign(governors.begin(), governors.end());
  cpu.scaling_driver = probe.read(kCpus / "cpu0/cpufreq/scaling_driver").value_or("");
  cpu.energy_preference = probe.read(kCpus / "cpu0/cpufreq/energy_performance_preference").value_or("");
  if (const auto off = probe.read(kCpus / "intel_pstate/no_turbo")) cpu.is_turbo_allowed = *off == "0";
  if (const auto boost = probe.read(kCpus / "cpufreq/boost")) cpu.is_turbo_allowed = *boost != "0";
}

Cpu cpu_of(const Probe& probe) {
  Cpu cpu;
  const std::string info = probe.read("/proc/cpuinfo").value_or("");
  cpu.model = entry_of(info, "model name");
  const std::string flags = entry_of(info, "flags");
  for (const std::string_view flag : split(flags, ' ')) cpu.flags.emplace_back(flag);
  cpu.allowed = parse_cpu_list(entry_of(probe.read("/proc/self/status").value_or(""), "Cpus_allowed_list"));
  cpu.online = std::ssize(parse_cpu_list(probe.read(kCpus / "online").value_or("")));
  cpu.quota_cores = runtime::cgroup_cpu_quota("/sys/fs/cgroup", probe.read("/proc/self/cgroup").value_or(""),
                                              [&](const path& file) { return probe.read(file); });
  add_clocks(probe, cpu);
  return cpu;
}

std::vector<NumaNode> nodes_of(const Probe& probe) {
  const path folder = "/sys/devices/system/node";
  std::vector<NumaNode> nodes;
  for (const std::string& name : probe.list(folder)) {
    const auto index = name.starts_with("node") ? number_in(name.substr(4)) : std::nullopt;
    if (!index) continue;
    NumaNode node{.index = static_cast<int>(*index)};
    node.cpus = parse_cpu_list(probe.read(folder / name / "cpulist").value_or(""));
    // "Node 0 MemTotal:  65780528 kB"
    const std::string memory =
        entry_of(probe.read(folder / name / "meminfo").value_or(""), fmt::format("Node {} MemTotal", node.index));
    node.memory_bytes = static_cast<std::int64_t>(number_in(memory).value_or(0.0)) * 1024;
    nodes.push_back(std::move(node));
  }
  std::ranges::sort(nodes, {}, &NumaNode::index);
  return nodes;
}

/// Returns the soft limit in a line of /proc/self/limits; nullopt if there is no limit.
std::optional<std::int64_t> soft_limit(const std::string& limits, std::string_view name) {
  const std::string rest = text_after(limits, name);
  const auto number = number_in(rest);
  return number ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

System system_of(const Probe& probe) {
  System system;
  system.kernel = probe.read("/proc/sys/kernel/osrelease").value_or("");
  system.has_pidfd_open = probe.has_pidfd_open();
  const std::string limits = probe.read("/proc/self/limits").value_or("");
  system.memlock_bytes = soft_limit(limits, "Max locked memory");
  system.open_files = soft_limit(limits, "Max open files").value_or(0);
  constexpr std::uint64_t kIpcLock = std::uint64_t{1} << 14U;  // CAP_IPC_LOCK, linux/capability.h
  system.may_lock_any = (hex_in(entry_of(probe.read("/proc/self/status").value_or(""), "CapEff")) & kIpcLock) != 0;
  // "always [madvise] never"
  const std::string pages = probe.read("/sys/kernel/mm/transparent_hugepage/enabled").value_or("");
  if (const auto begin = pages.find('['); begin != std::string::npos) {
    system.transparent_huge_pages = pages.substr(begin + 1, pages.find(']') - begin - 1);
  }
  const auto count_in = [&](const char* file) {
    return static_cast<std::int64_t>(number_in(probe.read(file).value_or("")).value_or(0.0));
  };
  system.huge_pages = count_in("/proc/sys/vm/nr_hugepages");
  system.is_numa_balancing = count_in("/proc/sys/kernel/numa_balancing") != 0;
  const std::string memory = entry_of(probe.read("/proc/meminfo").value_or(""), "MemTotal");
  system.memory_bytes = static_cast<std::int64_t>(number_in(memory).value_or(0.0)) * 1024;
  system.memory_limit_bytes = memory_limit(probe);
  return system;
}

std::vector<NamedFileSystem> file_systems_of(const Probe& probe) {
  std::vector<NamedFileSystem> found;
  const std::string temporary = probe.variable("TMPDIR").value_or("/tmp");
  const std::array<std::pair<const char*, path>, 3> uses{
      {{"working folder", "."}, {"temporary files", temporary}, {"shared memory", "/dev/shm"}}};
  for (const auto& [use, folder] : uses) {
    if (const auto system = probe.file_system(folder)) found.push_back({.use = use, .system = *system});
  }
  return found;
}

std::string kind_of(std::string_view pci_class) {
  if (pci_class.starts_with("0x03")) return "gpu";
  if (pci_class.starts_with("0x02")) return "network";
  return pci_class.starts_with("0x0108") ? "nvme" : "";
}

std::vector<PciDevice> pci_of(const Probe& probe) {
  const path folder = "/sys/bus/pci/devices";
  std::vector<PciDevice> devices;
  for (const std::string& bus : probe.list(folder)) {
    const auto text = [&](const char* file) { return probe.read(folder / bus / file).value_or(""); };
    const std::string pci_class = text("class");
    PciDevice device{.bus = bus, .kind = kind_of(pci_class), .is_infiniband = pci_class.starts_with("0x0207")};
    if (device.kind.empty()) continue;
    device.id = without_hex_mark(text("vendor")) + ":" + without_hex_mark(text("device"));
    device.driver = probe.link(folder / bus / "driver").value_or("");
    device.numa_node = static_cast<int>(number_in(text("numa_node")).value_or(-1.0));
    device.speed = text("current_link_speed");
    device.max_speed = text("max_link_speed");
    device.width = text("current_link_width");
    device.max_width = text("max_link_width");
    device.slot_width = text("../max_link_width");  // the folder is a link into that of the port
    devices.push_back(std::move(device));
  }
  return devices;
}

std::vector<Port> ports_of(const Probe& probe) {
  const path folder = "/sys/class/infiniband";
  std::vector<Port> ports;
  for (const std::string& adapter : probe.list(folder)) {
    for (const std::string& number : probe.list(folder / adapter / "ports")) {
      const auto text = [&](const char* file) {
        return probe.read(folder / adapter / "ports" / number / file).value_or("");
      };
      // "4: ACTIVE", "5: LinkUp"
      ports.push_back({.adapter = adapter,
                       .number = static_cast<int>(number_in(number).value_or(1.0)),
                       .state = text_after(text("state"), ": "),
                       .physical = text_after(text("phys_state"), ": "),
                       .rate = text("rate"),
                       .layer = text("link_layer"),
                       .firmware = probe.read(folder / adapter / "fw_ver").value_or("")});
    }
  }
  return ports;
}

std::map<std::string, std::string> libraries_of(const Probe& probe) {
  constexpr std::array<std::pair<const char*, Library>, 6> kLibraries{{{"CUDA driver", Library::CudaDriver},
                                                                       {"cuDNN", Library::Cudnn},
                                                                       {"NCCL", Library::Nccl},
                                                                       {"MPI", Library::Mpi},
                                                                       {"UCX", Library::Ucx},
                                                                       {"libibverbs", Library::Verbs}}};
  std::map<std::string, std::string> found;
  for (const auto& [name, library] : kLibraries) {
    auto version = probe.version(library);
    if (!version) continue;
    const std::string prefix = std::string(name) + " ";  // "NCCL 2.28.9"
    found[name] = version->starts_with(prefix) ? version->substr(prefix.size()) : *version;
  }
  return found;
}

/// Returns the number of ranks on this host; 1 for a process that no launcher started.
std::int64_t local_ranks_of(const Probe& probe) {
  for (const char* const name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) {
    if (const auto ranks = number_in(probe.variable(name).value_or(""))) return static_cast<std::int64_t>(*ranks);
  }
  return 1;
}

/// Returns the first line that contains a digit: versions stand there.
std::string line_with_number(const std::string& text) {
  for (const std::string_view line : lines_of(text)) {
    if (line.find_first_of("0123456789") != std::string_view::npos) return std::string(line);
  }
  return {};
}

}  // namespace

Inventory take_inventory(const Probe& probe) {
  Inventory inventory{.build = probe.build(),
                      .cpu = cpu_of(probe),
                      .local_ranks = local_ranks_of(probe),
                      .nodes = nodes_of(probe),
                      .system = system_of(probe),
                      .file_systems = file_systems_of(probe),
                      .pci = pci_of(probe),
                      .cuda = probe.cuda_devices(),
                      .cuda_engine_failure = probe.cuda_engine_failure(),
                      .libraries = libraries_of(probe),
                      .has_peer_memory = !probe.list("/sys/module/nvidia_peermem").empty() ||
                                         !probe.list("/sys/module/nv_peer_mem").empty(),
                      .ports = ports_of(probe)};
  if (const auto text = probe.output(Program::NvidiaSmi)) {
    inventory.gpus = parse_gpus(*text);
    const std::string links = without_escapes(probe.output(Program::NvidiaTopology).value_or(""));
    for (const std::string_view line : lines_of(links)) inventory.gpu_links.emplace_back(line);
  }
  inventory.mpirun = line_with_number(probe.output(Program::Mpirun).value_or(""));
  if (!inventory.ports.empty()) inventory.ofed = line_with_number(probe.output(Program::OfedInfo).value_or(""));
  for (const char* const name : kVariables) {
    if (auto value = probe.variable(name)) inventory.variables[name] = std::move(*value);
  }
  return inventory;
}

}  // namespace roentgen::doctor
