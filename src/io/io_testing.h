// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Helpers for tests: temporary folders, full disks, and damaged copies of bytes.
#pragma once

#include <sys/mount.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/folder_testing.h"
#include "core/random.h"

namespace roentgen::io::testing {

using roentgen::TemporaryFolder;

/// Mounts a memory file system of a few pages on a folder, as long as the object exists. This needs root; is_there() is
/// false if it failed.
class SmallDisk {
 public:
  SmallDisk(std::filesystem::path folder, std::size_t size_bytes) : path_(std::move(folder)) {
    const std::string options = "size=" + std::to_string(size_bytes);
    is_there_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, options.c_str()) == 0;
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (is_there_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  [[nodiscard]] bool is_there() const { return is_there_; }

 private:
  std::filesystem::path path_;
  bool is_there_ = false;
};

/// Limits the length of files that this process writes to `limit_bytes`, to simulate a full disk without being root.
/// Print nothing meanwhile, because standard output may be a file too.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(std::size_t limit_bytes) : handler_before_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limited{.rlim_cur = limit_bytes, .rlim_max = before_.rlim_max};
    if (::setrlimit(RLIMIT_FSIZE, &limited) != 0) throw std::runtime_error("the file size cannot be limited");
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_before_);
  }

 private:
  rlimit before_{};
  void (*handler_before_)(int);
};

/// Writes a file without checking for errors.
inline void put_file(const std::filesystem::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
}

/// Names of the files in a folder, sorted and joined by spaces.
inline std::string listing(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

/// Returns a copy with 1 to 4 random damages: a byte changed or copied from elsewhere, a range removed or repeated, or
/// the end removed.
inline std::string damaged(std::string content, Random& random) {
  for (std::uint64_t accidents = 1 + random.below(4); accidents > 0 && !content.empty(); --accidents) {
    const std::size_t at = random.below(content.size());
    const std::size_t length = 1 + random.below(std::min<std::size_t>(16, content.size() - at));
    switch (random.below(5)) {
      case 0:
        content[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        content[at] = content[random.below(content.size())];
        break;
      case 2:
        content.erase(at, length);
        break;
      case 3:
        content.insert(at, content.substr(at, length));
        break;
      default:
        content.resize(at);
        break;
    }
  }
  return content;
}

/// Folder of real test files: ROENTGEN_TEST_DATA, or shared/data in the checkout.
inline std::filesystem::path real_data() {
  if (const char* set = std::getenv("ROENTGEN_TEST_DATA")) return set;
  const char* source = std::getenv("ROENTGEN_SOURCE_DIR");
  return (source != nullptr ? std::filesystem::path(source) : std::filesystem::current_path()) / "../shared/data";
}

}  // namespace roentgen::io::testing
