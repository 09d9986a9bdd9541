// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Files that a table names, looked up in listings of their folders.
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

/// Candidate paths of a file that a table names, one in each folder. A name with backslashes (Windows) is tried with
/// slashes too.
[[nodiscard]] std::vector<std::filesystem::path> places_of(const std::string& name,
                                                           const std::vector<std::filesystem::path>& folders);

/// Regular files of folders. Each folder is listed once: on a network file system that is far cheaper than a stat of
/// every file. One thread.
class FolderFiles {
 public:
  /// Names of files in the folders listed so far, by folder.
  using Folders = std::map<std::string, std::unordered_set<std::string>>;

  /// Creates a finder. find() also looks below `root` for names without their folders; empty: it does not.
  explicit FolderFiles(std::filesystem::path root = {}) : root_(std::move(root)) {}

  /// Returns the first of `places` that is a file. Tries next the image file that a place means without its ending,
  /// such as `place`.png. Tries last the only file below the root whose relative path ends like that of the last place,
  /// with or without its ending. nullopt when there is none. Throws DataError naming the files where several fit.
  [[nodiscard]] std::optional<std::filesystem::path> find(const std::vector<std::filesystem::path>& places);
  /// Folders listed so far for files in their places.
  [[nodiscard]] const Folders& folders() const { return folders_; }
  /// Files that were found below the root without their folders.
  [[nodiscard]] std::int64_t without_folder() const { return without_folder_; }

 private:
  /// Image files by their names without the ending.
  using Endings = std::unordered_map<std::string, std::vector<std::string>>;
  using Paths = std::vector<std::filesystem::path>;
  [[nodiscard]] const std::unordered_set<std::string>& files_of(const std::filesystem::path& folder);
  [[nodiscard]] bool has(const std::filesystem::path& path);
  [[nodiscard]] std::optional<std::filesystem::path> with_ending(const std::filesystem::path& path);
  [[nodiscard]] std::optional<std::filesystem::path> below_root(const std::filesystem::path& name);

  std::filesystem::path root_;
  Folders folders_;
  /// Endings by folder, filled at the first use.
  std::map<std::string, Endings> endings_;
  /// Files below the root by their names, with the ending of an image also by their names without it. Nothing: not
  /// asked for yet.
  std::optional<std::unordered_map<std::string, Paths>> below_;
  std::int64_t without_folder_ = 0;
};

}  // namespace roentgen::data
