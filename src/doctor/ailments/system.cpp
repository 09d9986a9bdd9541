// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Ailments of the operating system, memory and MPI.
#include <fmt/format.h>

#include <algorithm>

#include "doctor/ailment_list.h"
#include "doctor/parse.h"

namespace roentgen::doctor::ailments {
namespace {

constexpr double kGiB = 1073741824.0;

const FileSystem* find_use(const Inventory& machine, std::string_view use) {
  const auto found = std::ranges::find(machine.file_systems, use, &NamedFileSystem::use);
  return found == machine.file_systems.end() ? nullptr : &found->system;
}

/// Returns the number in "Open MPI v4.1.4" before the first point; nullopt if there is no number.
std::optional<double> major_version(std::string_view text) {
  const std::size_t digit = text.find_first_of("0123456789");
  if (digit == std::string_view::npos) return std::nullopt;
  const std::string_view number = text.substr(digit);
  return number_in(number.substr(0, number.find('.')));
}

}  // namespace

std::vector<Sign> kernel_old(const Inventory& machine) {
  // The launcher watches its ranks by pidfd_open(2). Linux has it since 5.3, and some older kernels of distributions
  // do.
  if (machine.system.has_pidfd_open) return {};
  return {{fmt::format(
               "Linux {} lacks pidfd_open(2), or a container forbids it; several processes on several hosts need it",
               machine.system.kernel),
           "install Linux 5.3 or newer, or start the container without the limits of seccomp"}};
}

std::vector<Sign> memory_limited(const Inventory& machine) {
  const System& system = machine.system;
  constexpr double kLeast_gib = 4.0;
  if (!system.memory_limit_bytes || *system.memory_limit_bytes >= system.memory_bytes) return {};
  const double limit_gib = static_cast<double>(*system.memory_limit_bytes) / kGiB;
  if (limit_gib >= kLeast_gib) return {};
  return {{fmt::format("a control group limits memory to {:.1f} of {:.1f} GiB", limit_gib,
                       static_cast<double>(system.memory_bytes) / kGiB),
           "docker run --memory=16g, or sbatch --mem=16G"}};
}

std::vector<Sign> numa_balancing(const Inventory& machine) {
  // Most servers have it on, and it helps a process that uses all nodes. Bound ranks have their memory near already.
  if (!machine.system.is_numa_balancing || machine.nodes.size() < 2 || machine.local_ranks < 2) return {};
  return {{fmt::format("the kernel moves memory between {} NUMA nodes while threads compute", machine.nodes.size()),
           "sysctl kernel.numa_balancing=0"}};
}

std::vector<Sign> huge_pages_off(const Inventory& machine) {
  if (machine.system.transparent_huge_pages != "never") return {};
  return {{"transparent huge pages are off, which large activations need",
           "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"}};
}

std::vector<Sign> open_files_few(const Inventory& machine) {
  constexpr std::int64_t kLeast = 1024;
  const std::int64_t files = machine.system.open_files;
  if (files == 0 || files >= kLeast) return {};
  return {{fmt::format("a process may have only {} files open", files), fmt::format("ulimit -n {}", 4 * kLeast)}};
}

std::vector<Sign> shared_memory_small(const Inventory& machine) {
  const FileSystem* const shared = find_use(machine, "shared memory");
  if (shared == nullptr || static_cast<double>(shared->bytes) >= kGiB) return {};
  return {{fmt::format("/dev/shm has only {:.0f} MiB, too few for several processes on one host",
                       static_cast<double>(shared->bytes) / 1048576.0),
           "docker run --shm-size=8g, or mount -o remount,size=8g /dev/shm",
           // Containers have 64 MiB unless told otherwise, which is enough for one process.
           machine.local_ranks > 1 || machine.cuda.devices.size() > 1 ? std::nullopt : std::optional(Level::Advice)}};
}

std::vector<Sign> temporary_full(const Inventory& machine) {
  const FileSystem* const temporary = find_use(machine, "temporary files");
  constexpr double kLeast_gib = 0.1;
  if (temporary == nullptr || static_cast<double>(temporary->free_bytes) >= kLeast_gib * kGiB) return {};
  return {{fmt::format("the folder of temporary files has only {:.0f} MiB free",
                       static_cast<double>(temporary->free_bytes) / 1048576.0),
           "export TMPDIR=DIR, a folder with more space"}};
}

std::vector<Sign> mpirun_other(const Inventory& machine) {
  const auto library = machine.libraries.find("MPI");
  if (library == machine.libraries.end() || machine.mpirun.empty()) return {};
  // Only Open MPI names itself in both versions; MPICH's mpirun prints its number alone.
  const bool is_open = library->second.starts_with("Open MPI");
  const bool is_same_family = is_open == (machine.mpirun.find("Open") != std::string::npos);
  if (is_same_family && (!is_open || major_version(library->second) == major_version(machine.mpirun))) return {};
  return {{fmt::format("mpirun is of another MPI ({}) than the library that ranks load ({})", machine.mpirun,
                       library->second),
           "roentgen train --ranks N, which starts the right one, or load the library's own mpirun"}};
}

}  // namespace roentgen::doctor::ailments
