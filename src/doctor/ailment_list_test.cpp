// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Plants every ailment of the list into a healthy machine, one at a time, and looks for it.
#include "doctor/ailment_list.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include "doctor/probe_testing.h"

namespace roentgen::doctor {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// How a test makes a machine ill, and what the finding must say.
struct Plant {
  std::function<void(PlantedProbe&)> change;
  std::string text;    ///< part of the finding's text
  std::string remedy;  ///< part of its remedy
};

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

/// Replaces a word in the line of every GPU that nvidia-smi prints.
void replace_gpu(PlantedProbe& probe, const std::string& from, const std::string& to) {
  std::string& text = probe.outputs[Program::NvidiaSmi];
  const auto at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
}

std::function<void(PlantedProbe&)> file(const std::string& path, const std::string& text) {
  return [=](PlantedProbe& probe) { probe.files[path] = text; };
}
std::function<void(PlantedProbe&)> variable(const std::string& name, const std::string& value) {
  return [=](PlantedProbe& probe) { probe.variables[name] = value; };
}
std::function<void(PlantedProbe&)> gpu(const std::string& from, const std::string& to) {
  return [=](PlantedProbe& probe) { replace_gpu(probe, from, to); };
}

const std::string kCpu0 = "/sys/devices/system/cpu/cpu0/cpufreq/";
const std::string kPort = "/sys/class/infiniband/mlx5_0/ports/1/";

void without_driver(PlantedProbe& probe) {
  probe.outputs.clear();
  probe.cuda = {.devices = {}, .why_none = "no NVIDIA driver"};
  for (auto& [path, driver] : probe.links) driver = "nouveau";
}

/// A job without GPUs on a host that has them: /sys shows them, nvidia-smi finds none.
void without_permission(PlantedProbe& probe) {
  probe.outputs.erase(Program::NvidiaSmi);
  probe.cuda = {.devices = {}, .why_none = "no CUDA-capable device is detected"};
}

void with_old_driver(PlantedProbe& probe) {
  probe.cuda = {.devices = {}, .why_none = runtime::why_no_cuda_devices("insufficient driver", 11040, 12040)};
}

void with_one_gpu_hidden(PlantedProbe& probe) {
  probe.variables["CUDA_VISIBLE_DEVICES"] = "1";
  probe.cuda.devices.erase(probe.cuda.devices.begin());
}

void on_one_socket(PlantedProbe& probe) {
  probe.files["/proc/self/status"] = "CapEff:\t0\nCpus_allowed_list:\t0-3,7\n";
  probe.files["/sys/devices/system/node/node1/cpulist"] = "4-6";
}

const std::map<std::string, Plant, std::less<>>& plants() {
  static const std::map<std::string, Plant, std::less<>> kPlants{
      {"debug_build", {[](PlantedProbe& p) { p.built.type = "Debug"; }, "build type Debug", "cmake --preset release"}},
      {"kernel_old",
       {[](PlantedProbe& p) {
          p.files["/proc/sys/kernel/osrelease"] = "3.10.0-1160.el7";
          p.has_pidfd = false;
        },
        "3.10.0-1160.el7", "Linux 5.3"}},
      {"one_thread", {variable("OMP_NUM_THREADS", "1"), "8 hardware threads", "unset OMP_NUM_THREADS"}},
      {"isa_limited", {variable("ONEDNN_MAX_CPU_ISA", "avx2"), "AVX512_CORE_AMX", "unset ONEDNN_MAX_CPU_ISA"}},
      {"cpu_quota",
       {[](PlantedProbe& p) {
          p.files["/sys/fs/cgroup/user.slice/cpu.max"] = "250000 100000";
          p.variables["OMP_NUM_THREADS"] = "8";
        },
        "2.5 cores", "OMP_NUM_THREADS=3"}},
      {"cores_few", {file("/proc/self/status", "Cpus_allowed_list:\t3-4"), "only 2 of 8", "taskset"}},
      {"governor_slow",
       {[](PlantedProbe& p) {
          p.files[kCpu0 + "scaling_driver"] = "acpi-cpufreq";
          p.files[kCpu0 + "scaling_governor"] = "powersave";
        },
        "powersave", "cpupower frequency-set -g performance"}},
      {"clock_limited", {file(kCpu0 + "scaling_max_freq", "2000000"), "2000 of 3800 MHz", "-u 3800MHz"}},
      {"turbo_off", {file("/sys/devices/system/cpu/intel_pstate/no_turbo", "1"), "turbo", "echo 0 >"}},
      {"memory_limited", {file("/sys/fs/cgroup/user.slice/memory.max", "2147483648"), "2.0 of 125.0 GiB", "--memory"}},
      {"numa_balancing",
       {[](PlantedProbe& p) {
          p.files["/proc/sys/kernel/numa_balancing"] = "1";
          p.variables["OMPI_COMM_WORLD_LOCAL_SIZE"] = "2";
        },
        "2 NUMA nodes", "numa_balancing=0"}},
      {"huge_pages_off",
       {file("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]"), "are off", "echo madvise"}},
      {"open_files_few",
       {file("/proc/self/limits",
             "Max open files            256   256  files\nMax locked memory  unlimited unlimited\n"),
        "only 256 files", "ulimit -n"}},
      {"shared_memory_small",
       {[](PlantedProbe& p) { p.file_systems["/dev/shm"].bytes = 64 * kMiB; }, "64 MiB", "--shm-size"}},
      {"temporary_full", {[](PlantedProbe& p) { p.file_systems["/tmp"].free_bytes = 7 * kMiB; }, "7 MiB", "TMPDIR"}},
      {"mpirun_other",
       {[](PlantedProbe& p) { p.outputs[Program::Mpirun] = "HYDRA build details:\n    Version: 4.0.2\n"; },
        "Open MPI v4.1.4", "--ranks N"}},
      {"driver_missing", {without_driver, "no driver serves it (kernel driver nouveau)", "install NVIDIA's driver"}},
      {"gpus_withheld", {without_permission, "may not use it", "srun --gpus=N"}},
      {"cuda_missing", {with_old_driver, "knows CUDA 11.4, this program needs 12.4", "knows CUDA 12.4"}},
      {"cuda_engine_missing",
       {[](PlantedProbe& p) {
          p.cuda_failure =
              "[engine.cuda] cuDNN: expected version 9.10.0 or later, got 9.1.0; try apt-get install cudnn9";
        },
        "got 9.1.0", "apt-get install cudnn9"}},
      {"gpus_hidden", {with_one_gpu_hidden, "shows 1 of 2", "unset CUDA_VISIBLE_DEVICES"}},
      {"gpus_mixed", {gpu("1, NVIDIA H100 80GB HBM3", "1, NVIDIA A100-SXM4-80GB"), "A100", "one kind"}},
      {"launches_blocking", {variable("CUDA_LAUNCH_BLOCKING", "1"), "every kernel", "unset CUDA_LAUNCH_BLOCKING"}},
      {"gpu_prohibited", {gpu("Default", "Prohibited"), "GPU 0", "nvidia-smi -i 0 -c DEFAULT"}},
      {"gpu_memory_errors", {gpu("Default, 0,", "Default, 3,"), "3 uncorrected", "nvidia-smi -i 0 -r"}},
      {"gpu_hot", {gpu("0x0000000000000001", "0x0000000000000040"), "34 degrees", "air flow"}},
      {"gpu_power_limited", {gpu("700.00, 700.00", "400.00, 700.00"), "400 of 700 W", "nvidia-smi -i 0 -pl 700"}},
      {"gpu_link_narrow", {gpu("1, 5, 16, 16", "1, 5, 8, 16"), "8 of 16 PCIe lanes", "slot"}},
      {"gpu_not_persistent", {gpu("Enabled", "Disabled"), "GPU 0", "nvidia-smi -i 0 -pm 1"}},
      {"gpu_far", {on_one_socket, "NUMA node 1", "--cpunodebind=1"}},
      {"nccl_missing", {[](PlantedProbe& p) { p.versions.erase(Library::Nccl); }, "2 GPUs", "libnccl2"}},
      {"nccl_paths_off", {variable("NCCL_P2P_DISABLE", "1"), "NCCL_P2P_DISABLE=1", "unset NCCL_P2P_DISABLE"}},
      {"port_down", {file(kPort + "state", "2: INIT"), "port 1 of mlx5_0 has a link but is in state INIT", "opensm"}},
      {"port_narrow", {file(kPort + "rate", "100 Gb/sec (1X NDR)"), "100 Gb/sec", "cable"}},
      {"memlock_small",
       {file("/proc/self/limits", "Max open files  4096 4096 files\nMax locked memory  65536  65536  bytes\n"),
        "64 KiB", "ulimit -l unlimited"}},
      {"verbs_missing", {[](PlantedProbe& p) { p.versions.erase(Library::Verbs); }, "libibverbs", "apt-get install"}},
      {"ucx_missing", {[](PlantedProbe& p) { p.versions.erase(Library::Ucx); }, "UCX", "libucx0"}},
      {"peer_memory_missing",
       {[](PlantedProbe& p) { p.files.erase("/sys/module/nvidia_peermem/refcnt"); }, "nvidia_peermem", "modprobe"}},
      {"pci_narrow",
       {file("/sys/bus/pci/devices/0000:5e:00.0/current_link_width", "4"),
        "network device at 0000:5e:00.0 is "
        "connected by 4 of 16",
        "slot"}},
  };
  return kPlants;
}

TEST(Ailments, none_are_found_on_a_healthy_machine) {
  for (const Finding& finding : find_ailments(take_inventory(healthy_machine()))) {
    ADD_FAILURE() << finding.ailment << ": " << finding.sign.text;
  }
}

TEST(Ailments, none_are_found_on_a_machine_that_tells_nothing) {
  PlantedProbe probe;
  probe.built = {.type = "Release"};
  for (const Finding& finding : find_ailments(take_inventory(probe))) {
    ADD_FAILURE() << finding.ailment << ": " << finding.sign.text;
  }
}

TEST(Ailments, each_is_found_where_it_is_planted_and_no_other) {
  for (const std::string_view name : ailment_names()) {
    SCOPED_TRACE(name);
    const auto plant = plants().find(name);
    if (plant == plants().end()) {
      ADD_FAILURE() << "no planted machine";
      continue;
    }
    PlantedProbe probe = healthy_machine();
    plant->second.change(probe);
    const std::vector<Finding> findings = find_ailments(take_inventory(probe));
    if (findings.empty()) {
      ADD_FAILURE() << "not found";
      continue;
    }
    for (const Finding& finding : findings) EXPECT_EQ(finding.ailment, name) << finding.sign.text;
    EXPECT_THAT(findings.front().sign.text, HasSubstr(plant->second.text));
    EXPECT_THAT(findings.front().sign.remedy, HasSubstr(plant->second.remedy));
  }
}

TEST(Ailments, of_one_gpu_are_told_for_that_gpu_alone) {
  PlantedProbe probe = healthy_machine();
  std::string& text = probe.outputs[Program::NvidiaSmi];
  text.replace(text.rfind("Enabled"), 7, "Disabled");
  const auto findings = find_ailments(take_inventory(probe));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].sign.remedy, HasSubstr("-i 1 "));
  EXPECT_FALSE(has_wrong(findings)) << "persistence is advice";
}

TEST(Ailments, are_not_found_where_they_do_no_harm) {
  PlantedProbe probe = healthy_machine();
  // Locked memory matters only with an active adapter, and CAP_IPC_LOCK has no limit.
  probe.files["/proc/self/limits"] = "Max open files 4096 4096 files\nMax locked memory 65536 65536 bytes\n";
  probe.files["/proc/self/status"] = "CapEff:\t0000000000004000\nCpus_allowed_list:\t0-7\n";
  // With intel_pstate, powersave lets the CPU choose its clock.
  probe.files[kCpu0 + "scaling_governor"] = "powersave";
  // A limit above what the CPU has limits nothing.
  probe.variables["ONEDNN_MAX_CPU_ISA"] = "AVX512_CORE_AMX";
  probe.variables["OMP_NUM_THREADS"] = "8";
  // The second port of an adapter often has no cable.
  probe.files["/sys/class/infiniband/mlx5_0/ports/2/state"] = "1: DOWN";
  probe.files["/sys/class/infiniband/mlx5_0/ports/2/phys_state"] = "3: Disabled";
  // An idle GPU lowers the generation of its link.
  // Most servers have NUMA balancing on.
  probe.files["/proc/sys/kernel/numa_balancing"] = "1";
  EXPECT_THAT(find_ailments(take_inventory(probe)), IsEmpty());
}

/// Names of the findings with the level wrong, and of the others in parentheses.
std::string names_of(const std::vector<Finding>& findings) {
  std::string names;
  for (const Finding& finding : findings) {
    const bool is_wrong = finding.level == Level::Wrong;
    names += is_wrong ? fmt::format("{} ", finding.ailment) : fmt::format("({}) ", finding.ailment);
  }
  return names;
}

// Servers and cloud machines use adapters that can do RDMA as plain Ethernet adapters.
TEST(Ailments, of_rdma_are_advice_on_machines_with_ethernet_only) {
  PlantedProbe probe = healthy_machine();
  for (const char* const port : {"mlx5_0/ports/1/", "mlx5_1/ports/1/"}) {
    probe.files["/sys/class/infiniband/" + std::string(port) + "link_layer"] = "Ethernet";
  }
  EXPECT_EQ(names_of(find_ailments(take_inventory(probe))), "");
  probe.files["/proc/self/limits"] = "Max open files 4096 4096 files\nMax locked memory 65536 65536 bytes\n";
  probe.versions.erase(Library::Verbs);
  EXPECT_EQ(names_of(find_ailments(take_inventory(probe))), "(memlock_small) (verbs_missing) ");
  for (const char* const port : {"mlx5_0/ports/1/", "mlx5_1/ports/1/"}) {
    probe.files["/sys/class/infiniband/" + std::string(port) + "state"] = "1: DOWN";
    probe.files["/sys/class/infiniband/" + std::string(port) + "phys_state"] = "3: Disabled";
  }
  EXPECT_EQ(names_of(find_ailments(take_inventory(probe))), "(port_down) ");
}

TEST(Ailments, of_pci_lanes_are_wrong_for_infiniband_only) {
  const std::string folder = "/sys/bus/pci/devices/0000:5e:00.0/";
  PlantedProbe probe = healthy_machine();
  probe.files[folder + "current_link_width"] = "8";
  EXPECT_EQ(names_of(find_ailments(take_inventory(probe))), "pci_narrow ");
  probe.files[folder + "class"] = "0x020000";
  EXPECT_EQ(names_of(find_ailments(take_inventory(probe))), "(pci_narrow) ");
}

TEST(Ailments, a_gpu_lent_to_a_virtual_machine_is_not_missed) {
  PlantedProbe probe = healthy_machine();
  without_permission(probe);
  for (const char* const bus : {"0000:3b:00.0", "0000:4b:00.0"}) {
    probe.links["/sys/bus/pci/devices/" + std::string(bus) + "/driver"] = "vfio-pci";
  }
  EXPECT_EQ(names_of(find_ailments(take_inventory(probe))), "");
}

// Schedulers give a rank the cores of one socket, and the GPUs near it by CUDA_VISIBLE_DEVICES.
TEST(Ailments, a_hidden_gpu_is_not_too_far) {
  PlantedProbe probe = healthy_machine();
  on_one_socket(probe);
  probe.variables["CUDA_VISIBLE_DEVICES"] = "0";
  probe.cuda.devices.pop_back();
  EXPECT_EQ(names_of(find_ailments(take_inventory(probe))), "(gpus_hidden) ");
}

TEST(Ailments, a_kernel_with_a_backport_is_not_too_old) {
  PlantedProbe probe = healthy_machine();
  probe.files["/proc/sys/kernel/osrelease"] = "4.18.0-553.el8_10.x86_64";
  EXPECT_EQ(names_of(find_ailments(take_inventory(probe))), "");
}

TEST(Ailments, of_control_groups_of_version_1_are_found) {
  PlantedProbe probe = healthy_machine();
  probe.files["/proc/self/cgroup"] = "5:memory:/docker/3f\n4:cpu,cpuacct:/docker/3f\n";
  probe.files["/sys/fs/cgroup/cpu/cpu.cfs_quota_us"] = "-1";
  probe.files["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = "9223372036854771712";
  EXPECT_THAT(find_ailments(take_inventory(probe)), IsEmpty()) << "no limit is set";
  probe.variables["OMP_NUM_THREADS"] = "8";
  probe.files["/sys/fs/cgroup/cpu/cpu.cfs_quota_us"] = "150000";
  probe.files["/sys/fs/cgroup/cpu/cpu.cfs_period_us"] = "50000";
  const auto findings = find_ailments(take_inventory(probe));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].sign.text, HasSubstr("3 cores"));
  EXPECT_TRUE(has_wrong(findings));
}

// The default number of threads is within the quota.
TEST(Ailments, a_container_with_a_cpu_quota_is_healthy) {
  PlantedProbe probe = healthy_machine();
  probe.files["/sys/fs/cgroup/user.slice/cpu.max"] = "100000 100000";
  EXPECT_EQ(names_of(find_ailments(take_inventory(probe))), "");
  probe.variables["OMP_NUM_THREADS"] = "1";
  EXPECT_EQ(names_of(find_ailments(take_inventory(probe))), "") << "one thread is right within one core";
}

// docker gives a container 64 MiB unless told otherwise.
TEST(Ailments, small_shared_memory_is_wrong_for_several_processes_only) {
  PlantedProbe probe = healthy_machine();
  probe.file_systems["/dev/shm"].bytes = 64 * kMiB;
  EXPECT_EQ(names_of(find_ailments(take_inventory(probe))), "shared_memory_small ") << "two GPUs need two processes";
  probe.variables["CUDA_VISIBLE_DEVICES"] = "0";
  probe.cuda.devices.pop_back();
  EXPECT_EQ(names_of(find_ailments(take_inventory(probe))), "(shared_memory_small) (gpus_hidden) ");
  probe.variables["MPI_LOCALNRANKS"] = "4";
  EXPECT_EQ(names_of(find_ailments(take_inventory(probe))), "shared_memory_small (gpus_hidden) ");
}

TEST(Ailments, a_gpu_with_few_lanes_by_design_is_not_wrong) {
  const std::string folder = "/sys/bus/pci/devices/0000:3b:00.0/";
  PlantedProbe probe = healthy_machine();
  replace_gpu(probe, "1, 5, 16, 16", "1, 5, 8, 16");
  EXPECT_EQ(names_of(find_ailments(take_inventory(probe))), "gpu_link_narrow ");
  probe.files[folder + "../max_link_width"] = "8";
  EXPECT_EQ(names_of(find_ailments(take_inventory(probe))), "(gpu_link_narrow) ") << "the slot has 8 lanes";
  probe.files.erase(folder + "../max_link_width");
  EXPECT_EQ(names_of(find_ailments(take_inventory(probe))), "(gpu_link_narrow) ") << "the slot is unknown";
  probe.files[folder + "max_link_width"] = "8";
  EXPECT_EQ(names_of(find_ailments(take_inventory(probe))), "") << "the GPU itself has 8 lanes";
  probe.files[folder + "max_link_width"] = "16";
  for (int gpu = 0; gpu < 2; ++gpu) replace_gpu(probe, "NVIDIA H100 80GB HBM3", "NVIDIA RTX 4060 Laptop GPU");
  EXPECT_EQ(names_of(find_ailments(take_inventory(probe))), "") << "a laptop";
}

TEST(Ailments, become_a_table) {
  const Value table = to_value({{.ailment = "a", .level = Level::Advice, .sign = {.text = "b", .remedy = "c"}}});
  EXPECT_EQ(table.as_array().at(0),
            Value(Value::Table{{"ailment", "a"}, {"level", "advice"}, {"text", "b"}, {"remedy", "c"}}));
}

}  // namespace
}  // namespace roentgen::doctor
