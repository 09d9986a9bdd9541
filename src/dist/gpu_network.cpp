// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/gpu_network.h"

#include <dlfcn.h>
#include <net/if.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "core/error.h"

namespace roentgen::dist {
namespace {

constexpr const char* kInterfaces = "NCCL_SOCKET_IFNAME";

// True if a configuration file that NCCL reads sets this variable. NCCL prefers the environment to these files.
bool is_in_nccl_files(const std::string& variable) {
  const char* const asked = std::getenv("NCCL_CONF_FILE");
  const char* const home = std::getenv("HOME");
  const bool is_asked = asked != nullptr && *asked != '\0';
  for (const std::string& file :
       {is_asked ? std::string(asked) : std::string(home == nullptr ? "" : home) + "/.nccl.conf",
        std::string("/etc/nccl.conf")}) {
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(variable + "=")) return true;
    }
  }
  return false;
}

}  // namespace

std::optional<bool> is_cuda_aware(const MpiLibrary& library) {
  const auto query = reinterpret_cast<int (*)()>(::dlsym(library.handle, "MPIX_Query_cuda_support"));
  if (query == nullptr) return std::nullopt;
  return query() == 1;
}

std::string ucx_version() {
  void* const handle = ::dlopen("libucp.so.0", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return {};
  const auto version = reinterpret_cast<const char* (*)()>(::dlsym(handle, "ucp_get_version_string"));
  return version == nullptr ? "UCX" : std::string("UCX ") + version();
}

std::string gdr_level(std::string_view word) {
  if (word == "auto") return {};
  if (word == "on") return "SYS";
  if (word == "off") return "LOC";
  constexpr std::array<std::string_view, 5> kLevels{"LOC", "PIX", "PXB", "PHB", "SYS"};
  if (std::ranges::find(kLevels, word) != kLevels.end()) return std::string(word);
  throw ConfigError(
      error_text("dist.gdr", "--gdr", "auto, on, off, LOC, PIX, PXB, PHB or SYS", word, "one of these values"));
}

void set_gdr(std::string_view word) {
  const std::string level = gdr_level(word);
  if (!level.empty()) ::setenv("NCCL_NET_GDR_LEVEL", level.c_str(), 1);
}

std::string nccl_interfaces(std::string_view included) {
  const auto is_part_of_name = [](unsigned char each) {
    return std::isalnum(each) != 0 || each == '_' || each == '-' || each == '.';
  };
  if (included.ends_with(',')) return {};
  bool is_here = false;
  std::istringstream names{std::string(included)};
  for (std::string name; std::getline(names, name, ',');) {
    // A name begins with a letter, unlike an address.
    if (name.empty() || std::isalpha(static_cast<unsigned char>(name[0])) == 0) return {};
    if (!std::ranges::all_of(name, is_part_of_name)) return {};
    is_here = is_here || ::if_nametoindex(name.c_str()) != 0;
  }
  return is_here ? "=" + std::string(included) : "";
}

void follow_mpi_interfaces() {
  const char* const included = std::getenv("OMPI_MCA_btl_tcp_if_include");
  if (included == nullptr || is_in_nccl_files(kInterfaces)) return;
  const std::string interfaces = nccl_interfaces(included);
  if (!interfaces.empty()) ::setenv(kInterfaces, interfaces.c_str(), 0);
}

void send_nccl_messages_to_stderr() {
  struct stat status {};
  if (std::getenv("NCCL_DEBUG") == nullptr || ::fstat(STDERR_FILENO, &status) != 0) return;
  if (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode)) ::setenv("NCCL_DEBUG_FILE", "/dev/stderr", 0);
}

}  // namespace roentgen::dist
