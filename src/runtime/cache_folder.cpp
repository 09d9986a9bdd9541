// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "runtime/cache_folder.h"

#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/log.h"

namespace roentgen::runtime {
namespace fs = std::filesystem;

std::string make_private_folder(const fs::path& folder) {
  std::error_code error;
  if (folder.has_parent_path()) fs::create_directories(folder.parent_path(), error);
  if (error) return folder.string() + " cannot be created: " + error.message();
  constexpr mode_t kPrivate = 0700, kOfOthers = 0077, kWrittenByOthers = 0022;
  if (::mkdir(folder.c_str(), kPrivate) != 0 && errno != EEXIST) {
    return folder.string() + " cannot be created: " + std::generic_category().message(errno);
  }
  struct stat now {};
  if (::lstat(folder.c_str(), &now) != 0) return folder.string() + ": " + std::generic_category().message(errno);
  if (!S_ISDIR(now.st_mode)) return folder.string() + " is a link or a file, not a folder";
  if (now.st_uid != ::geteuid()) return folder.string() + " belongs to another user";
  if ((now.st_mode & kOfOthers) == 0) return {};
  // Refuses a folder that other users can write to, because they may already have put files into it.
  if ((now.st_mode & kWrittenByOthers) != 0) return folder.string() + " can be written by other users";
  if (::chmod(folder.c_str(), kPrivate) == 0) return {};
  return folder.string() + " can be read by other users";
}

fs::path user_folder(const char* variable, const char* in_home) {
  const auto folder_of = [](const char* name) -> fs::path {
    const char* const value = std::getenv(name);
    if (value == nullptr || !fs::path(value).is_absolute()) return {};  // XDG requires that relative paths are ignored
    return value;
  };
  if (fs::path folder = folder_of(variable); !folder.empty()) return folder;
  const fs::path home = folder_of("HOME");
  return home.empty() ? home : home / in_home;
}

fs::path default_cache_folder() {
  if (const fs::path cache = user_folder("XDG_CACHE_HOME", ".cache"); !cache.empty()) return cache / "roentgen";
  std::error_code error;
  const fs::path temporary = fs::temp_directory_path(error);
  const fs::path folder = temporary / ("roentgen-cache-" + std::to_string(::getuid()));
  const std::string problem = error ? "there is no folder for temporary files" : make_private_folder(folder);
  if (problem.empty()) return folder;
  static std::atomic<bool> is_told = false;
  if (!is_told.exchange(true)) log::warning("no cache folder: " + problem + "; try XDG_CACHE_HOME=DIR");
  return {};
}

fs::path temporary_folder() {
  const char* const named = std::getenv("TMPDIR");
  const fs::path folder = named == nullptr || *named == '\0' ? fs::path("/tmp") : fs::path(named);
  const auto refuse = [&folder](const std::string& fault, std::string_view remedy) {
    throw ConfigError(error_text("runtime.files", "TMPDIR", "a folder for temporary files", folder.string() + fault,
                                 std::string(remedy)));
  };
  std::error_code error;
  const bool is_folder = fs::is_directory(folder, error);
  if (error == std::errc::permission_denied) refuse(", which cannot be read", "TMPDIR=/tmp");
  if (error) refuse(": " + error.message(), "creating the folder, or TMPDIR=/tmp");
  if (!is_folder) refuse(", which is not a folder", "TMPDIR=/tmp");
  // creates a file, because permissions do not reveal a read-only disk
  std::string name = (folder / "roentgen_XXXXXX").string();
  const int file = ::mkstemp(name.data());
  if (file < 0) {
    refuse(", in which no file can be created: " + std::generic_category().message(errno),
           "making the folder writable, or TMPDIR=/tmp");
  }
  ::close(file);
  ::unlink(name.c_str());
  return folder;
}

const char* network_file_system(const fs::path& folder) {
  // File systems by the magic numbers of statfs(2).
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
