// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Folders of a data set that are classes, and their splits. For src/data/source only.
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

/// A class's folder, in one part of the data set.
struct ClassFolder {
  /// Path below the root.
  std::filesystem::path path;
  std::string name;
  Split split = Split::None;
};

/// Layout of a data set's folders, as their names say it.
struct ClassLayout {
  std::vector<ClassFolder> folders{};
  /// Folders beside train, val and test.
  std::set<std::string, std::less<>> beside{};
  /// The only folder with the name of a split, which holds folders as a split does, among others: it may be a class.
  std::string unclear{};
  /// Image files lie in the root itself.
  bool has_loose_images = false;
  /// Indices into `folders` by their paths.
  std::map<std::string, std::size_t, std::less<>> numbers{};

  void add(ClassFolder folder);
  /// True when folders of classes lie in train, val or test.
  [[nodiscard]] bool has_splits() const;
  /// Index of the class's folder that `path` (below the root) leads to or into; nullopt: none.
  [[nodiscard]] std::optional<std::size_t> folder_of(std::string_view path) const;
  /// True for a path below the root that leads to or into one of the folders beside train, val and test.
  [[nodiscard]] bool is_beside(std::string_view path) const;
  /// Names of the classes.
  [[nodiscard]] std::set<std::string> classes() const;
};

/// Looks at the root and the folders train, val and test in it. DataError: one cannot be read.
[[nodiscard]] ClassLayout class_layout(const std::filesystem::path& root);

/// True when an image file lies directly in a folder. DataError: it cannot be read.
[[nodiscard]] bool holds_images(const std::filesystem::path& folder);

/// Split that a folder's name suggests, for names like "train_set", "TestData", "tst" and "fold1". Returns "train",
/// "val", "test" or "fold"; empty: none.
[[nodiscard]] std::string_view part_like(std::string_view name);

/// Parts of a data set that the words of a name seem to say, as part_like(): "train" and "val" of "train_val".
[[nodiscard]] std::set<std::string_view> parts_like(std::string_view name);

/// Subfolders that occur in all class folders.
struct CommonFolders {
  std::vector<std::string> names{};
  /// Folders of classes that hold them, below the root.
  std::vector<std::string> holders{};
};

/// Finds two or more subfolders that all class folders share, ignoring case, blanks, `_` and `-`, where no image lies
/// directly in a class folder. Class folders without subfolders do not count. Returns nothing for other trees. Throws
/// DataError when a folder cannot be read.
[[nodiscard]] CommonFolders common_folders(const std::filesystem::path& root, const ClassLayout& layout);

/// The split of a folder called train, val or test, or by another word of find_split(), in any case.
[[nodiscard]] std::optional<Split> split_of_folder(std::string_view name);

}  // namespace roentgen::data
