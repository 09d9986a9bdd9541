// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Class folders of a data set, and the splits that contain them. For src/data/source only.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "data/source/dataset.h"

namespace roentgen::data {

/// Folder of one class, in one split if the data set has split folders.
struct ClassFolder {
  /// Path relative to the root.
  std::filesystem::path path;
  std::string name;
  Split split = Split::None;
};

/// Meaning of a data set's folders, derived from their names.
struct ClassLayout {
  std::vector<ClassFolder> folders{};
  /// Folders next to train, val and test that are not splits.
  std::set<std::string, std::less<>> beside{};
  /// Name of the only folder that is called like a split, if other folders exist and it contains only folders. It may
  /// be a class.
  std::string unclear{};
  /// True if image files lie directly in the root folder.
  bool has_loose_images = false;
  /// Indices into `folders`, by path.
  std::map<std::string, std::size_t, std::less<>> numbers{};

  void add(ClassFolder folder);
  /// True if train, val or test contain the class folders.
  [[nodiscard]] bool has_splits() const;
  /// Index of the class folder that `path` (relative to the root) is or lies in; nullopt if none.
  [[nodiscard]] std::optional<std::size_t> folder_of(std::string_view path) const;
  /// True if `path` (relative to the root) is or lies in one of the folders next to train, val and test.
  [[nodiscard]] bool is_beside(std::string_view path) const;
  /// Names of the classes.
  [[nodiscard]] std::set<std::string> classes() const;
};

/// Examines the root folder and its folders train, val and test. Throws DataError if a folder cannot be read.
[[nodiscard]] ClassLayout class_layout(const std::filesystem::path& root);

/// True if an image file lies directly in the folder. Throws DataError if the folder cannot be read.
[[nodiscard]] bool holds_images(const std::filesystem::path& folder);

/// Returns "train", "val", "test" or "fold" if a word of a folder's name suggests it, as in "train_set", "TestData",
/// "tst" and "fold1". Otherwise empty.
[[nodiscard]] std::string_view part_like(std::string_view name);

/// All splits that words of a name suggest, as in part_like(): "train" and "val" for "train_val".
[[nodiscard]] std::set<std::string_view> parts_like(std::string_view name);

/// Subfolders that occur in every class folder.
struct CommonFolders {
  std::vector<std::string> names{};
  /// Class folders that contain these subfolders, relative to the root.
  std::vector<std::string> holders{};
};

/// Finds two or more subfolders that all class folders share, ignoring case, blanks, `_` and `-`. Class folders without
/// subfolders do not count. Returns no folders for other trees, and if an image lies directly in a class folder. Throws
/// DataError if a folder cannot be read.
[[nodiscard]] CommonFolders common_folders(const std::filesystem::path& root, const ClassLayout& layout);

/// Split that a folder's name means: train, val, test, or another word that find_split() knows, ignoring case.
[[nodiscard]] std::optional<Split> split_of_folder(std::string_view name);

}  // namespace roentgen::data
