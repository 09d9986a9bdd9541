// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/gpu_network.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "core/error.h"

namespace roentgen::dist {

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

}  // namespace roentgen::dist
