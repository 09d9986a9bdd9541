// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "runtime/cache_folder.h"

#include <sys/vfs.h>

#include <unistd.h>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace roentgen::runtime {
namespace fs = std::filesystem;

fs::path default_cache_folder() {
  const auto folder_of = [](const char* variable) -> fs::path {
    const char* const value = std::getenv(variable);
    if (value == nullptr || !fs::path(value).is_absolute()) return {};  // relative ones are to be ignored (XDG)
    return value;
  };
  if (const fs::path cache = folder_of("XDG_CACHE_HOME"); !cache.empty()) return cache / "roentgen";
  if (const fs::path home = folder_of("HOME"); !home.empty()) return home / ".cache" / "roentgen";
  std::error_code ignored;
  // A name of the user's own: others can write there.
  return fs::temp_directory_path(ignored) / ("roentgen-cache-" + std::to_string(::getuid()));
}

const char* network_file_system(const fs::path& folder) {
  // Magic numbers of statfs(2).
  constexpr std::array<std::pair<std::uint32_t, const char*>, 9> kKnown{{{0x6969, "NFS"},
                                                                         {0xFF534D42, "CIFS"},
                                                                         {0xFE534D42, "SMB"},
                                                                         {0x0BD00BD0, "Lustre"},
                                                                         {0x47504653, "GPFS"},
                                                                         {0x19830326, "BeeGFS"},
                                                                         {0x00C36400, "Ceph"},
                                                                         {0x5346414F, "AFS"},
                                                                         {0x01021997, "9P"}}};
  std::error_code ignored;
  fs::path place = fs::absolute(folder, ignored);
  while (!fs::exists(place, ignored) && place.has_relative_path()) place = place.parent_path();
  struct statfs status {};
  if (::statfs(place.c_str(), &status) != 0) return nullptr;
  for (const auto& [magic, name] : kKnown) {
    if (static_cast<std::uint32_t>(status.f_type) == magic) return name;
  }
  return nullptr;
}

}  // namespace roentgen::runtime
