// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Probe: the only source of what `doctor` knows about a machine. Tests inject a machine with planted ailments.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/stream.h"

namespace roentgen::doctor {

/// Programs that a probe may run.
enum class Program : std::uint8_t {
  NvidiaSmi,       ///< properties of all NVIDIA GPUs, one line each: kGpuFields (inventory.h)
  NvidiaTopology,  ///< links between GPUs and network adapters: nvidia-smi topo -m
  Mpirun,          ///< version of the mpirun on the PATH
  OfedInfo,        ///< version of NVIDIA's OFED drivers
};

/// Libraries whose version a probe can read.
enum class Library : std::uint8_t { CudaDriver, Cudnn, Nccl, Mpi, Ucx, Verbs };

/// File system that contains a folder.
struct FileSystem {
  std::string type{};            ///< "ext4", "nfs4", "lustre"
  std::uint64_t bytes = 0;       ///< size
  std::uint64_t free_bytes = 0;  ///< space that this user may still fill
};

/// How this program was built.
struct Build {
  std::string type{};  ///< "Release"
  std::string cuda{};  ///< version of the CUDA toolkit; empty: built without it
};

/// Answers questions about a machine. Thread-compatible. No function throws if something is absent.
class Probe {
 public:
  virtual ~Probe() = default;
  /// Returns the content of a small file without white space at its end; nullopt if it cannot be read.
  [[nodiscard]] virtual std::optional<std::string> read(const std::filesystem::path& file) const = 0;
  /// Returns the names in a folder, sorted; empty if it cannot be read.
  [[nodiscard]] virtual std::vector<std::string> list(const std::filesystem::path& folder) const = 0;
  /// Returns the last part of a symbolic link's target; nullopt if it is no link.
  [[nodiscard]] virtual std::optional<std::string> link(const std::filesystem::path& file) const = 0;
  /// Returns an environment variable; nullopt if it is not set.
  [[nodiscard]] virtual std::optional<std::string> variable(const std::string& name) const = 0;
  /// Runs a program. Returns its standard output; nullopt if it is missing, fails, or takes longer than 10 s.
  [[nodiscard]] virtual std::optional<std::string> output(Program program) const = 0;
  /// Returns the name and version of a library, such as "Open MPI v4.1.4"; nullopt if it cannot be loaded.
  [[nodiscard]] virtual std::optional<std::string> version(Library library) const = 0;
  /// Returns the file system of a folder; nullopt if the folder does not exist.
  [[nodiscard]] virtual std::optional<FileSystem> file_system(const std::filesystem::path& folder) const = 0;
  /// Returns the CUDA devices, or the reason why there are none.
  [[nodiscard]] virtual runtime::CudaInventory cuda_devices() const = 0;
  /// Returns the error of making the CUDA engine; empty if it can be made, or was not tried.
  [[nodiscard]] virtual std::string cuda_engine_failure() const = 0;
  [[nodiscard]] virtual Build build() const = 0;
  /// True if the kernel has pidfd_open(2), and lets this process call it.
  [[nodiscard]] virtual bool has_pidfd_open() const = 0;
};

/// Effort of a machine's probe. Quick: loads no library, starts no engine and runs only nvidia-smi, so that a benchmark
/// can take it. Ailments of libraries cannot be found then.
enum class Effort : std::uint8_t { Full, Quick };
/// Makes the probe of this machine.
[[nodiscard]] std::unique_ptr<Probe> make_machine_probe(Effort effort);

/// Returns the file system of a folder from the kernel's list of mounts.
/// @param mounts content of /proc/self/mountinfo
/// @param folder absolute path without links
/// @return type of the file system; empty if the list does not contain it
[[nodiscard]] std::string file_system_type(const std::string& mounts, const std::filesystem::path& folder);

}  // namespace roentgen::doctor
