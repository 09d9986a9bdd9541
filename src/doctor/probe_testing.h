// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// For tests: a machine made of texts. A test changes one of them to plant an ailment.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "doctor/probe.h"

namespace roentgen::doctor {

/// Probe that answers from its members.
class PlantedProbe final : public Probe {
 public:
  std::map<std::string, std::string> files{};  ///< content by path; folders follow from the paths
  std::map<std::string, std::string> links{};  ///< targets of symbolic links, by path
  std::map<std::string, std::string> variables{};
  std::map<Program, std::string> outputs{};
  std::map<Library, std::string> versions{};
  std::map<std::string, FileSystem> file_systems{};
  runtime::CudaInventory cuda{};
  std::string cuda_failure{};
  Build built{};
  bool has_pidfd = true;

  [[nodiscard]] std::optional<std::string> read(const std::filesystem::path& file) const override {
    return found(files, file.string());
  }
  [[nodiscard]] std::vector<std::string> list(const std::filesystem::path& folder) const override {
    std::set<std::string> names;
    const std::string prefix = folder.string() + "/";
    for (const auto& [file, text] : files) {
      if (file.starts_with(prefix))
        names.insert(file.substr(prefix.size(), file.find('/', prefix.size()) - prefix.size()));
    }
    return {names.begin(), names.end()};
  }
  [[nodiscard]] std::optional<std::string> link(const std::filesystem::path& file) const override {
    return found(links, file.string());
  }
  [[nodiscard]] std::optional<std::string> variable(const std::string& name) const override {
    return found(variables, name);
  }
  [[nodiscard]] std::optional<std::string> output(Program program) const override { return found(outputs, program); }
  [[nodiscard]] std::optional<std::string> version(Library library) const override { return found(versions, library); }
  [[nodiscard]] std::optional<FileSystem> file_system(const std::filesystem::path& folder) const override {
    return found(file_systems, folder.string());
  }
  [[nodiscard]] runtime::CudaInventory cuda_devices() const override { return cuda; }
  [[nodiscard]] std::string cuda_engine_failure() const override { return cuda_failure; }
  [[nodiscard]] Build build() const override { return built; }
  [[nodiscard]] bool has_pidfd_open() const override { return has_pidfd; }

 private:
  template <typename Map, typename Key>
  static std::optional<typename Map::mapped_type> found(const Map& map, const Key& key) {
    const auto entry = map.find(key);
    return entry == map.end() ? std::nullopt : std::optional(entry->second);
  }
};

/// Makes the probe of a server without ailments: two sockets with 4 cores each, two H100 GPUs and one InfiniBand port
/// near each socket, Open MPI, UCX and NCCL.
[[nodiscard]] inline PlantedProbe healthy_machine() {
  PlantedProbe probe;
  probe.files = {
      {"/proc/cpuinfo",
       "model name\t: Intel(R) Xeon(R) Platinum 8480+\n"
       "flags\t\t: fpu sse4_1 avx avx2 fma avx512f avx512bw avx512_vnni avx512_bf16 amx_bf16\n"},
      {"/proc/self/status", "Name:\troentgen\nCapEff:\t0000000000000000\nCpus_allowed_list:\t0-7\n"},
      {"/proc/self/limits",
       "Limit                     Soft Limit           Hard Limit           Units\n"
       "Max open files            524288               524288               files\n"
       "Max locked memory         unlimited            unlimited            bytes\n"},
      {"/proc/self/cgroup", "0::/user.slice"},
      {"/sys/fs/cgroup/user.slice/cpu.max", "max 100000"},
      {"/sys/fs/cgroup/user.slice/memory.max", "max"},
      {"/proc/sys/kernel/osrelease", "6.1.0-18-amd64"},
      {"/proc/sys/kernel/numa_balancing", "0"},
      {"/proc/sys/vm/nr_hugepages", "0"},
      {"/proc/meminfo", "MemTotal:       131072000 kB\nMemFree: 1 kB\n"},
      {"/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never"},
      {"/sys/devices/system/cpu/online", "0-7"},
      {"/sys/devices/system/cpu/intel_pstate/no_turbo", "0"},
      {"/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", "intel_pstate"},
      {"/sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference", "performance"},
      {"/sys/module/nvidia_peermem/refcnt", "0"},
  };
  for (int cpu = 0; cpu < 8; ++cpu) {
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpufreq/";
    probe.files[folder + "scaling_governor"] = "performance";
    probe.files[folder + "scaling_max_freq"] = "3800000";
    probe.files[folder + "cpuinfo_max_freq"] = "3800000";
  }
  for (int socket = 0; socket < 2; ++socket) {
    const std::string index = std::to_string(socket);
    const std::string node = "/sys/devices/system/node/node" + index;
    probe.files[node + "/cpulist"] = socket == 0 ? "0-3" : "4-7";
    probe.files[node + "/meminfo"] = "Node " + index + " MemTotal:       65536000 kB\n";
    const auto add_pci = [&](const std::string& bus, const std::string& pci_class, const std::string& id) {
      const std::string folder = "/sys/bus/pci/devices/" + bus;
      probe.files[folder + "/class"] = pci_class;
      probe.files[folder + "/vendor"] = "0x" + id.substr(0, 4);
      probe.files[folder + "/device"] = "0x" + id.substr(5);
      probe.files[folder + "/numa_node"] = index;
      probe.files[folder + "/current_link_speed"] = probe.files[folder + "/max_link_speed"] = "32.0 GT/s PCIe";
      probe.files[folder + "/current_link_width"] = probe.files[folder + "/max_link_width"] = "16";
      probe.files[folder + "/../max_link_width"] = "16";
    };
    add_pci("0000:" + std::to_string(3 + socket) + "b:00.0", "0x030200", "10de:2330");
    probe.links["/sys/bus/pci/devices/0000:" + std::to_string(3 + socket) + "b:00.0/driver"] = "nvidia";
    add_pci("0000:" + std::to_string(5 + socket) + "e:00.0", "0x020700", "15b3:1021");
    const std::string port = "/sys/class/infiniband/mlx5_" + index + "/ports/1/";
    probe.files[port + "state"] = "4: ACTIVE";
    probe.files[port + "phys_state"] = "5: LinkUp";
    probe.files[port + "rate"] = "400 Gb/sec (4X NDR)";
    probe.files[port + "link_layer"] = "InfiniBand";
    probe.files["/sys/class/infiniband/mlx5_" + index + "/fw_ver"] = "28.39.1002";
    probe.cuda.devices.push_back({.index = socket,
                                  .name = "NVIDIA H100 80GB HBM3",
                                  .compute_capability = 90,
                                  .memory_bytes = std::size_t{80} << 30U,
                                  .bus = "0000:" + std::to_string(3 + socket) + "B:00.0"});
  }
  probe.outputs = {{Program::NvidiaSmi,
                    "0, NVIDIA H100 80GB HBM3, 00000000:3B:00.0, 550.54.15, Enabled, Default, 0, 700.00, 700.00, 345, "
                    "1980, 0x0000000000000001, 1, 5, 16, 16, 34\n"
                    "1, NVIDIA H100 80GB HBM3, 00000000:4B:00.0, 550.54.15, Enabled, Default, 0, 700.00, 700.00, 345, "
                    "1980, 0x0000000000000001, 1, 5, 16, 16, 35\n"},
                   {Program::NvidiaTopology, "\t\x1b[4mGPU0\tGPU1\tCPU Affinity\x1b[0m\nGPU0\t X \tNV18\t0-3\n"},
                   {Program::Mpirun, "mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org/"},
                   {Program::OfedInfo, "MLNX_OFED_LINUX-23.10-1.1.9.0:\n"}};
  probe.versions = {{Library::CudaDriver, "CUDA 12.4"}, {Library::Cudnn, "cuDNN 9.14.0"},
                    {Library::Nccl, "NCCL 2.28.9"},     {Library::Mpi, "Open MPI v4.1.4"},
                    {Library::Ucx, "UCX 1.15.0"},       {Library::Verbs, "found"}};
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;
  probe.file_systems = {{".", {.type = "lustre", .bytes = 1000 * kGiB, .free_bytes = 500 * kGiB}},
                        {"/tmp", {.type = "ext4", .bytes = 100 * kGiB, .free_bytes = 50 * kGiB}},
                        {"/dev/shm", {.type = "tmpfs", .bytes = 64 * kGiB, .free_bytes = 64 * kGiB}}};
  probe.built = {.type = "Release", .cuda = "12.4"};
  return probe;
}

}  // namespace roentgen::doctor
