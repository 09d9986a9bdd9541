// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "runtime/near_cores.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "core/folder_testing.h"

namespace roentgen::runtime {
namespace {

/// Returns hwloc's XML of a core with two hardware threads.
std::string core_xml(int core, int package) {
  std::string text;
  for (int thread = 2 * core; thread < 2 * core + 2; ++thread) {
    text += fmt::format(R"(<object type="PU" os_index="{0}" cpuset="{1:#x}" complete_cpuset="{1:#x}" nodeset="{2:#x}" )"
                        R"(complete_nodeset="{2:#x}" gp_index="{3}"/>)",
                        thread, 1 << thread, 1 << package, 100 + thread);
  }
  return fmt::format(R"(<object type="Core" os_index="{0}" cpuset="{1:#x}" complete_cpuset="{1:#x}" nodeset="{2:#x}" )"
                     R"(complete_nodeset="{2:#x}" gp_index="{3}">{4}</object>)",
                     core, 3 << (2 * core), 1 << package, 50 + core, text);
}

/// Returns hwloc's XML of a machine with two packages of two cores. The GPUs at bus 0x10 and 0x20 belong to package 0,
/// the GPU at bus 0x80 to package 1.
std::string machine_xml() {
  std::string packages;
  for (int package = 0; package < 2; ++package) {
    std::string cards;
    for (const int bus : package == 0 ? std::vector{0x10, 0x20} : std::vector{0x80}) {
      cards += fmt::format(R"(<object type="PCIDev" gp_index="{0}" pci_busid="0000:{1:02x}:00.0" )"
                           R"(pci_type="0302 [10de:2335] [10de:18be] a1" pci_link_speed="0.000000"/>)",
                           20 + bus, bus);
    }
    packages += fmt::format(
        R"(<object type="Package" os_index="{0}" cpuset="{1:#x}" complete_cpuset="{1:#x}" nodeset="{2:#x}" )"
        R"(complete_nodeset="{2:#x}" gp_index="{3}"><object type="NUMANode" os_index="{0}" cpuset="{1:#x}" )"
        R"(complete_cpuset="{1:#x}" nodeset="{2:#x}" complete_nodeset="{2:#x}" gp_index="{4}"/>{5}{6})"
        R"(<object type="Bridge" gp_index="{7}" bridge_type="0-1" depth="0" bridge_pci="0000:[{8:02x}-{9:02x}]">{10})"
        R"(</object></object>)",
        package, 0xF << (4 * package), 1 << package, 2 + package, 4 + package, core_xml(2 * package, package),
        core_xml(2 * package + 1, package), 6 + package, 0x80 * package, 0x80 * package + 0x7F, cards);
  }
  return R"(<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE topology SYSTEM "hwloc2.dtd"><topology version="2.0">)"
         R"(<object type="Machine" os_index="0" cpuset="0xff" complete_cpuset="0xff" allowed_cpuset="0xff" )"
         R"(nodeset="0x3" complete_nodeset="0x3" allowed_nodeset="0x3" gp_index="1">)" +
         packages + "</object></topology>";
}

/// Fixture in which hwloc reads machine_xml() instead of this machine.
class NearCores : public testing::Test {
 protected:
  NearCores() {
    const std::filesystem::path file = folder_.path() / "machine.xml";
    std::ofstream(file) << machine_xml();
    ::setenv("HWLOC_XMLFILE", file.c_str(), 1);
  }
  ~NearCores() override { ::unsetenv("HWLOC_XMLFILE"); }

  const CoreList all_{0, 1, 2, 3, 4, 5, 6, 7};

 private:
  TemporaryFolder folder_;
};

TEST_F(NearCores, of_a_card_are_those_of_its_package) {
  EXPECT_EQ(near_cores(all_, "0000:10:00.0"), (CoreList{0, 1, 2, 3}));
  EXPECT_EQ(near_cores(all_, "0000:80:00.0"), (CoreList{4, 5, 6, 7}));
  EXPECT_EQ(near_cores({2, 3, 6}, "0000:80:00.0"), (CoreList{6})) << "the process may use no other";
}

TEST_F(NearCores, of_an_unknown_device_are_none) {
  EXPECT_EQ(near_cores(all_, "0000:99:00.0"), CoreList{});
  EXPECT_EQ(near_cores(all_, ""), CoreList{});
}

TEST_F(NearCores, ranks_on_cards_of_one_package_divide_its_cores) {
  std::vector<CoreList> near;
  for (const char* const bus : {"0000:10:00.0", "0000:80:00.0", "0000:20:00.0"}) near.push_back(near_cores(all_, bus));
  EXPECT_EQ(shares_near(all_, near), (std::vector<CoreList>{{0, 1}, {4, 5, 6, 7}, {2, 3}}));
}

TEST_F(NearCores, without_a_known_place_the_cores_are_shared_out_in_order) {
  EXPECT_EQ(shares_near(all_, {near_cores(all_, "0000:80:00.0"), {}}), shares_of(all_, 2));
}

}  // namespace
}  // namespace roentgen::runtime
