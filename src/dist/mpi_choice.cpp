// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/mpi_choice.h"

#include <unistd.h>

#include <sstream>

namespace roentgen::dist {
namespace {

namespace fs = std::filesystem;

/// Returns the file names of a family's library. Debian calls MPICH's library libmpich.so.12.
std::vector<std::string> names_of(std::string_view family) {
  if (family == kOpenMpi) return {"libmpi.so.40"};
  return {"libmpi.so.12", "libmpich.so.12"};
}

// True if this mpirun belongs to MPICH. Intel MPI's mpirun is a script and that of MPICH's Python wheel a program; both
// start the hydra in the same folder.
bool is_of_mpich(const fs::path& mpirun) {
  std::error_code error;
  const std::string name = mpirun.filename().string();
  if (name == "mpirun") return fs::exists(mpirun.parent_path() / "mpiexec.hydra", error);
  return name.find("hydra") != std::string::npos || name.find(kMpich) != std::string::npos;
}

// Returns the value of a variable; empty if it is not set.
std::string value_of(const std::vector<std::string>& environment, const std::string& name) {
  for (const std::string& variable : environment) {
    if (variable.starts_with(name + "=")) return variable.substr(name.size() + 1);
  }
  return {};
}

// Returns the families whose libraries are tried, in order. `asked` is a family that the user chose, or empty.
std::vector<std::string_view> families(std::string_view asked, const std::vector<std::string>& environment,
                                       const std::optional<Mpirun>& mpirun) {
  if (!asked.empty()) return {asked};
  if (!value_of(environment, "OMPI_COMM_WORLD_SIZE").empty()) return {kOpenMpi};
  if (!value_of(environment, "MPI_LOCALNRANKS").empty()) return {kMpich};  // set by MPICH's hydra
  const bool has_pmi = !value_of(environment, "PMI_SIZE").empty();
  if (mpirun ? mpirun->family == kMpich : has_pmi) return {kMpich, kOpenMpi};
  return {kOpenMpi, kMpich};
}

}  // namespace

std::optional<Mpirun> find_mpirun(std::string_view path) {
  std::istringstream folders{std::string(path)};
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::error_code error;
    const fs::path file = fs::canonical(fs::path(folder) / "mpirun", error);
    if (error) continue;
    return Mpirun{.file = file, .family = is_of_mpich(file) ? kMpich : kOpenMpi};
  }
  return std::nullopt;
}

std::vector<std::string> mpi_files(const std::vector<std::string>& environment) {
  const std::string asked = value_of(environment, "ROENTGEN_MPI");
  if (!asked.empty() && asked != kOpenMpi && asked != kMpich) return {asked};
  const std::optional<Mpirun> mpirun = find_mpirun(value_of(environment, "PATH"));
  std::vector<std::string> files;
  for (const std::string_view family : families(asked, environment, mpirun)) {
    const std::vector<std::string> names = names_of(family);
    for (const char* folder : {"lib", "lib64", "lib/release"}) {
      if (!mpirun || mpirun->family != family) continue;
      const fs::path beside = mpirun->file.parent_path().parent_path() / folder;
      for (const std::string& name : names) {
        std::error_code error;
        if (fs::exists(beside / name, error)) files.push_back((beside / name).string());
      }
    }
    files.insert(files.end(), names.begin(), names.end());
  }
  return files;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> variables;
  for (char** variable = ::environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
  return variables;
}

}  // namespace roentgen::dist
