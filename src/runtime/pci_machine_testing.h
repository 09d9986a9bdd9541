// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// For tests: a machine with PCI devices, which hwloc reads from a file.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/folder_testing.h"

namespace roentgen::runtime {

/// Machine that hwloc sees during the lifetime of an object, with two packages. Each package has four cores of two
/// threads. Package 0 has threads 0 to 7 and the GPUs at PCI buses 0x10 and 0x20. Package 1 has threads 8 to 15 and the
/// GPU at bus 0x80. The GPU at bus 0xF0 belongs to no package. For use by one thread.
class PciMachine {
 public:
  /// @param allowed bit mask of the threads that the process may use
  explicit PciMachine(unsigned allowed = 0xFFFF) {
    const std::filesystem::path file = folder_.path() / "machine.xml";
    std::ofstream(file) << machine_xml(allowed);
    ::setenv("HWLOC_XMLFILE", file.c_str(), 1);
  }
  ~PciMachine() { ::unsetenv("HWLOC_XMLFILE"); }
  PciMachine(const PciMachine&) = delete;
  PciMachine& operator=(const PciMachine&) = delete;

 private:
  /// Core with two hardware threads.
  static std::string core_xml(int core, int package) {
    std::string text;
    for (int thread = 2 * core; thread < 2 * core + 2; ++thread) {
      text +=
          fmt::format(R"(<object type="PU" os_index="{0}" cpuset="{1:#x}" complete_cpuset="{1:#x}" nodeset="{2:#x}" )"
                      R"(complete_nodeset="{2:#x}" gp_index="{3}"/>)",
                      thread, 1 << thread, 1 << package, 500 + thread);
    }
    return fmt::format(
        R"(<object type="Core" os_index="{0}" cpuset="{1:#x}" complete_cpuset="{1:#x}" nodeset="{2:#x}" )"
        R"(complete_nodeset="{2:#x}" gp_index="{3}">{4}</object>)",
        core, 3 << (2 * core), 1 << package, 400 + core, text);
  }
  /// Bridge with GPUs at these buses.
  static std::string bridge_xml(int number, const std::vector<int>& buses) {
    std::string cards;
    for (const int bus : buses) {
      cards += fmt::format(R"(<object type="PCIDev" gp_index="{0}" pci_busid="0000:{1:02x}:00.0" )"
                           R"(pci_type="0302 [10de:2335] [10de:18be] a1" pci_link_speed="0.000000"/>)",
                           20 + bus, bus);
    }
    return fmt::format(R"(<object type="Bridge" gp_index="{}" bridge_type="0-1" depth="0" )"
                       R"(bridge_pci="0000:[{:02x}-{:02x}]">{}</object>)",
                       6 + number, buses.front(), buses.back(), cards);
  }
  static std::string machine_xml(unsigned allowed) {
    std::string packages;
    for (int package = 0; package < 2; ++package) {
      std::string cores;
      for (int core = 4 * package; core < 4 * package + 4; ++core) cores += core_xml(core, package);
      packages += fmt::format(
          R"(<object type="Package" os_index="{0}" cpuset="{1:#x}" complete_cpuset="{1:#x}" nodeset="{2:#x}" )"
          R"(complete_nodeset="{2:#x}" gp_index="{3}"><object type="NUMANode" os_index="{0}" cpuset="{1:#x}" )"
          R"(complete_cpuset="{1:#x}" nodeset="{2:#x}" complete_nodeset="{2:#x}" gp_index="{4}"/>{5}{6}</object>)",
          package, 0xFF << (8 * package), 1 << package, 2 + package, 4 + package, cores,
          bridge_xml(package, package == 0 ? std::vector{0x10, 0x20} : std::vector{0x80}));
    }
    return fmt::format(
        R"(<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE topology SYSTEM "hwloc2.dtd"><topology version="2.0">)"
        R"(<object type="Machine" os_index="0" cpuset="0xffff" complete_cpuset="0xffff" allowed_cpuset="{:#x}" )"
        R"(nodeset="0x3" complete_nodeset="0x3" allowed_nodeset="0x3" gp_index="1">{}{}</object></topology>)",
        allowed, packages, bridge_xml(2, {0xF0}));
  }

  TemporaryFolder folder_;
};

}  // namespace roentgen::runtime
