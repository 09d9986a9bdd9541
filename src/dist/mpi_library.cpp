// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/mpi_library.h"

#include <dlfcn.h>

#include <array>
#include <cstddef>

#include "core/error.h"
#include "dist/mpi_choice.h"

namespace roentgen::dist {
namespace {

constexpr const char* kRemedy =
    "apt install openmpi-bin (or mpich), module load, ROENTGEN_MPI=FILE with another libmpi.so, or a single process";

using GetLibraryVersion = int (*)(char* text, int* length);

// Returns MPI's version text: its first line up to a comma, with single blanks. The call is allowed before MPI_Init
// (MPI 3.1, 8.1.1).
std::string version_by(GetLibraryVersion get) {
  constexpr std::size_t kMostBytes = 8192;  // MPICH's MPI_MAX_LIBRARY_VERSION_STRING
  std::array<char, kMostBytes> text{};
  int length = 0;
  get(text.data(), &length);
  const std::string_view line(text.data());
  std::string version;
  for (const char c : line.substr(0, line.find_first_of(",\n"))) {
    if (c != ' ' && c != '\t') {
      version += c;
    } else if (!version.empty() && version.back() != ' ') {
      version += ' ';
    }
  }
  return version;
}

// Opens the file as MPI library. If that fails, returns nullopt and adds the reason to `reasons`.
std::optional<MpiLibrary> open(const std::string& file, int flags, std::string& reasons) {
  const auto refuse = [&](const std::string& reason) {
    reasons += (reasons.empty() ? "" : ", ") + reason;
    return std::nullopt;
  };
  void* handle = ::dlopen(file.c_str(), flags | RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = ::dlerror();
    return refuse(reason == nullptr ? file + ": not loaded" : reason);
  }
  const auto version = reinterpret_cast<GetLibraryVersion>(::dlsym(handle, "MPI_Get_library_version"));
  if (version == nullptr) return refuse(file + ": no MPI_Get_library_version");
  const bool is_open_mpi = ::dlsym(handle, "ompi_mpi_comm_world") != nullptr;
  // Plug-ins of Open MPI before version 5 need its symbols to be global. Most builds make them global themselves.
  if (is_open_mpi) static_cast<void>(::dlopen(file.c_str(), RTLD_NOLOAD | RTLD_NOW | RTLD_GLOBAL));
  return MpiLibrary{
      .family = is_open_mpi ? kOpenMpi : kMpich, .file = file, .version = version_by(version), .handle = handle};
}

}  // namespace

void* MpiLibrary::symbol(const char* name) const {
  void* address = ::dlsym(handle, name);
  if (address != nullptr) return address;
  throw CommError(error_text("dist.mpi", file, std::string("an MPI 3 library with the function ") + name,
                             "a library without this function", kRemedy));
}

std::optional<MpiLibrary> loaded_mpi() {
  std::string reasons;
  for (const std::string& file : mpi_files(own_environment())) {
    if (auto library = open(file, RTLD_NOLOAD, reasons)) return library;
  }
  return std::nullopt;
}

MpiLibrary load_mpi(const std::vector<std::string>& files) {
  std::string reasons;
  for (const std::string& file : files) {
    if (auto library = open(file, 0, reasons)) return *library;
  }
  throw CommError(error_text("dist.mpi", "communicator mpi", "an MPI library on this machine", reasons, kRemedy));
}

MpiLibrary load_mpi() {
  if (auto library = loaded_mpi()) return *library;
  return load_mpi(mpi_files(own_environment()));
}

}  // namespace roentgen::dist
