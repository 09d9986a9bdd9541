// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Finds the files that a table names, in listings of their folders.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace roentgen::data {

/// Candidate paths of a file that a table names, one per folder. A name with backslashes (Windows) is also tried with
/// slashes.
[[nodiscard]] std::vector<std::filesystem::path> places_of(const std::string& name,
                                                           const std::vector<std::filesystem::path>& folders);

/// Lists the regular files of folders. Each folder is listed once, because on a network file system this is far cheaper
/// than a stat of every file. Not thread-safe.
class FolderFiles {
 public:
  /// Names of files in the folders listed so far, by folder.
  using Folders = std::map<std::string, std::unordered_set<std::string>>;

  /// Creates an empty lookup. With a `root`, find() also searches below it for names without their folder.
  explicit FolderFiles(std::filesystem::path root = {}) : root_(std::move(root)) {}

  /// Returns the first of `places` that is a file. If none of them is a file, tries each place with the extension of an
  /// image format, such as `place`.png. Last, tries the only file below the root whose relative path ends like the last
  /// place, with or without its extension. If the last place is an absolute path of another machine, tries the only
  /// file below the root that shares most trailing folders with it. Returns nullopt if nothing matches. Throws
  /// DataError that names the files if several match.
  [[nodiscard]] std::optional<std::filesystem::path> find(const std::vector<std::filesystem::path>& places);
  /// Folders that find() has listed so far, with the names of their files.
  [[nodiscard]] const Folders& folders() const { return folders_; }
  /// Number of files that were found below the root although the table omits their folder.
  [[nodiscard]] std::int64_t without_folder() const { return without_folder_; }
  /// Number of files that were found below the root by the end of an absolute path that does not exist here.
  [[nodiscard]] std::int64_t moved() const { return moved_; }

 private:
  /// Image files by name without extension.
  using Endings = std::unordered_map<std::string, std::vector<std::string>>;
  using Paths = std::vector<std::filesystem::path>;
  [[nodiscard]] const std::unordered_set<std::string>& files_of(const std::filesystem::path& folder);
  [[nodiscard]] bool has(const std::filesystem::path& path);
  [[nodiscard]] std::optional<std::filesystem::path> with_ending(const std::filesystem::path& path);
  /// Files below the root with this name, with or without its extension.
  [[nodiscard]] const Paths& named_below_root(const std::string& name);
  [[nodiscard]] std::optional<std::filesystem::path> below_root(const std::filesystem::path& name);
  [[nodiscard]] std::optional<std::filesystem::path> from_elsewhere(const std::filesystem::path& path);

  std::filesystem::path root_;
  Folders folders_;
  /// Image files of each folder, filled on first use.
  std::map<std::string, Endings> endings_;
  /// Files below the root by name; image files also by name without extension. nullopt until the first use.
  std::optional<std::unordered_map<std::string, Paths>> below_;
  std::int64_t without_folder_ = 0;
  std::int64_t moved_ = 0;
};

}  // namespace roentgen::data
