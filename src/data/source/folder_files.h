// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Files that a table names, looked up in listings of their folders.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace roentgen::data {

/// Regular files of folders. Each folder is listed once: on a network file system that is far cheaper than a stat of
/// every file. One thread.
class FolderFiles {
 public:
  /// Names of files in the folders listed so far, by folder.
  using Folders = std::map<std::string, std::unordered_set<std::string>>;

  /// True where `path` is a file.
  [[nodiscard]] bool has(const std::filesystem::path& path);
  /// The image file that a name without its ending means: `path`.png, say. Nothing where there is none, or where `path`
  /// has the ending of an image. DataError naming the files where there are several.
  [[nodiscard]] std::optional<std::filesystem::path> with_ending(const std::filesystem::path& path);
  /// Folders listed so far.
  [[nodiscard]] const Folders& folders() const { return folders_; }

 private:
  using Endings = std::unordered_map<std::string, std::vector<std::string>>;
  [[nodiscard]] const std::unordered_set<std::string>& files_of(const std::filesystem::path& folder);

  Folders folders_;
  /// Image files by their names without the ending, by folder; made where one is asked for.
  std::map<std::string, Endings> endings_;
};

}  // namespace roentgen::data
