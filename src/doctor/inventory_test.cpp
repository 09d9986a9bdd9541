// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "doctor/inventory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <string>

#include "doctor/command_output.h"
#include "doctor/parse.h"
#include "doctor/probe_testing.h"
#include "io/json.h"

namespace roentgen::doctor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Inventory, of_a_server_names_its_parts) {
  const Inventory machine = take_inventory(healthy_machine());
  EXPECT_EQ(machine.cpu.allowed.size(), 8U);
  EXPECT_EQ(machine.cpu.mhz_limit, 3800.0);
  EXPECT_THAT(machine.cpu.governors, ElementsAre("performance"));
  ASSERT_EQ(machine.nodes.size(), 2U);
  EXPECT_THAT(machine.nodes[1].cpus, ElementsAre(4, 5, 6, 7));
  EXPECT_EQ(machine.nodes[1].memory_bytes, std::int64_t{65536000} * 1024);
  EXPECT_EQ(machine.system.memlock_bytes, std::nullopt);
  EXPECT_EQ(machine.system.open_files, 524288);
  EXPECT_EQ(machine.system.transparent_huge_pages, "madvise");
  ASSERT_EQ(machine.gpus.size(), 2U);
  EXPECT_EQ(machine.gpus[1].power_limit_w, 700.0);
  EXPECT_EQ(machine.gpus[1].max_link_lanes, 16);
  EXPECT_EQ(machine.gpus[1].temperature_c, 35);
  ASSERT_EQ(machine.pci.size(), 4U);
  EXPECT_EQ(machine.pci[0].kind, "gpu");
  EXPECT_EQ(machine.pci[0].driver, "nvidia");
  EXPECT_EQ(machine.pci[3].id, "15b3:1021");
  ASSERT_EQ(machine.ports.size(), 2U);
  EXPECT_EQ(machine.ports[0].state, "ACTIVE");
  EXPECT_EQ(machine.mpirun, "mpirun (Open MPI) 4.1.4");
  EXPECT_EQ(machine.ofed, "MLNX_OFED_LINUX-23.10-1.1.9.0:");
  ASSERT_EQ(machine.gpu_links.size(), 2U);
  EXPECT_EQ(machine.gpu_links[0], "\tGPU0\tGPU1\tCPU Affinity") << "without underlining";
}

TEST(Inventory, becomes_tables_without_paths) {
  PlantedProbe probe = healthy_machine();
  probe.variables["CUDA_VISIBLE_DEVICES"] = "0,1";
  probe.variables["OMP_PLACES"] = "/home/alice/places";
  probe.versions[Library::Mpi] = "Open MPI v4.1.4 in /home/alice/lib";
  const Value value = to_value(take_inventory(probe));
  EXPECT_EQ(value.find_path("cpu.allowed")->as_string(), "0-7");
  EXPECT_EQ(value.find_path("variables.CUDA_VISIBLE_DEVICES")->as_string(), "0,1");
  EXPECT_EQ(value.find_path("libraries.NCCL")->as_string(), "2.28.9");
  EXPECT_EQ(value.at("gpus").as_array()[0].at("name").as_string(), "NVIDIA H100 80GB HBM3");
  EXPECT_TRUE(value.find_path("system.memlock_bytes")->is_null());
  EXPECT_THAT(io::to_json(value), Not(HasSubstr("alice")));
}

TEST(Inventory, of_this_machine_is_taken_quickly_and_names_no_host) {
  const auto probe = make_machine_probe(Effort::Quick);
  const Inventory machine = take_inventory(*probe);
  EXPECT_FALSE(machine.cpu.allowed.empty());
  EXPECT_GE(machine.cpu.online, std::ssize(machine.cpu.allowed));
  EXPECT_GT(machine.system.memory_bytes, std::int64_t{1} << 26);
  EXPECT_GT(machine.system.open_files, 0);
  EXPECT_FALSE(machine.system.kernel.empty());
  ASSERT_FALSE(machine.file_systems.empty());
  EXPECT_EQ(machine.file_systems[0].use, "working folder");
  EXPECT_FALSE(machine.file_systems[0].system.type.empty());
  EXPECT_GT(machine.file_systems[0].system.bytes, 0U);
  struct utsname names {};
  ASSERT_EQ(::uname(&names), 0);
  const std::string host = names.nodename;
  // Short host names such as "linux" occur in the text for other reasons.
  if (host.size() >= 8) {
    EXPECT_THAT(io::to_json(to_value(machine)), Not(HasSubstr(host)));
  }
}

TEST(Inventory, reads_gpus_that_report_only_some_fields) {
  const auto gpus = parse_gpus(
      "3, Tesla T4, 00000000:00:1E.0, 470.82, [N/A], Default, [N/A], [N/A], 70.00, 585, 1590, "
      "0x0000000000000000, 3, 3, [N/A], 16, 40\nNo devices were found\n");
  ASSERT_EQ(gpus.size(), 1U);
  EXPECT_EQ(gpus[0].index, 3);
  EXPECT_EQ(gpus[0].is_persistent, std::nullopt);
  EXPECT_EQ(gpus[0].power_limit_w, std::nullopt);
  EXPECT_EQ(gpus[0].default_power_limit_w, 70.0);
  EXPECT_EQ(gpus[0].link_lanes, std::nullopt);
}

TEST(CpuList, is_read) {
  EXPECT_THAT(parse_cpu_list("0-2,5"), ElementsAre(0, 1, 2, 5));
  EXPECT_THAT(parse_cpu_list(""), IsEmpty());
  EXPECT_THAT(parse_cpu_list("a-b"), IsEmpty());
  EXPECT_THAT(parse_cpu_list("0-99999999"), IsEmpty());
}

TEST(FileSystemType, is_that_of_the_longest_mount_above) {
  const std::string mounts =
      "22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
      "30 22 0:25 / /data rw shared:2 master:1 - lustre 10.0.0.1@o2ib:/fs rw\n"
      "31 30 0:26 / /data/local rw - xfs /dev/nvme0n1 rw\n";
  EXPECT_EQ(file_system_type(mounts, "/home"), "ext4");
  EXPECT_EQ(file_system_type(mounts, "/data"), "lustre");
  EXPECT_EQ(file_system_type(mounts, "/data/set"), "lustre");
  EXPECT_EQ(file_system_type(mounts, "/data2"), "ext4");
  EXPECT_EQ(file_system_type(mounts, "/data/local/set"), "xfs");
  EXPECT_EQ(file_system_type("", "/data"), "");
}

TEST(CommandOutput, is_returned_of_programs_that_succeed) {
  using namespace std::chrono_literals;
  EXPECT_EQ(command_output({"printf", "a\nb"}, 60s), "a\nb");
  EXPECT_EQ(command_output({"false"}, 60s), std::nullopt);
  EXPECT_EQ(command_output({"/nowhere/program"}, 60s), std::nullopt);
  EXPECT_EQ(command_output({"sleep", "600"}, 10ms), std::nullopt) << "killed when its time is over";
}

}  // namespace
}  // namespace roentgen::doctor
