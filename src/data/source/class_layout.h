// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Which folders of a data set are classes, and in which splits. For src/data/source only.
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
  /// Below the root.
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

/// The split of a folder called train, training, val, valid, validation, test or testing, in any case.
[[nodiscard]] std::optional<Split> split_of_folder(std::string_view name);

}  // namespace roentgen::data
