// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Text files that list the images of a split: NIH's lists (one name per line) and lists with labels ("name 0 1 0 ...").
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/source/dataset.h"

namespace roentgen::data {

/// A split list that was read from a file.
struct NameList {
  std::filesystem::path path;  ///< file that was read
  /// First word of each line, unchanged.
  std::vector<std::string> names;
  /// Values 0 and 1 after each name; empty vectors if the file contains only names.
  std::vector<std::vector<float>> labels;
};

/// Split lists of a data set; nullopt for lists that do not exist.
struct SplitLists {
  std::optional<NameList> train_val;  ///< training and validation images together
  std::optional<NameList> train;      ///< training images
  std::optional<NameList> val;        ///< validation images
  std::optional<NameList> test;       ///< test images
  [[nodiscard]] bool any() const { return train_val || train || val || test; }  ///< true if any list exists
};

/// Reads a list. Throws DataError if the file cannot be read, is empty, repeats a name, has labels other than 0 and 1,
/// or rows of different length.
[[nodiscard]] NameList read_name_list(const std::filesystem::path& path);

/// Reads the lists named in the options. If none are named, searches for train_val_list.txt, train_list.txt,
/// val_list.txt and test_list.txt in the root, in its folder `labels`, and in the csv's folder.
[[nodiscard]] SplitLists find_split_lists(const SourceOptions& options);

}  // namespace roentgen::data
