// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Text files that name the images of a split: NIH's own (a name a line) and the community's ("name 0 1 0 ...").
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/source/dataset.h"

namespace roentgen::data {

/// A list file.
struct NameList {
  std::filesystem::path path;  ///< file that was read
  /// First word of each line, as written.
  std::vector<std::string> names;
  /// The 0 and 1 behind each name; empty vectors where the file has names only.
  std::vector<std::vector<float>> labels;
};

/// The lists of a data set; those that are not there are empty.
struct SplitLists {
  std::optional<NameList> train_val;  ///< training and validation images together
  std::optional<NameList> train;      ///< training images
  std::optional<NameList> val;        ///< validation images
  std::optional<NameList> test;       ///< test images
  [[nodiscard]] bool any() const { return train_val || train || val || test; }  ///< whether any list exists
};

/// Reads a list. DataError: unreadable, no name in it, a name twice, labels other than 0 and 1, rows of unequal length.
[[nodiscard]] NameList read_name_list(const std::filesystem::path& path);

/// Finds the lists named in the options. When they name none, looks for train_val_list.txt, train_list.txt,
/// val_list.txt and test_list.txt. Searches the root, its folder `labels`, and the csv's folder.
[[nodiscard]] SplitLists find_split_lists(const SourceOptions& options);

}  // namespace roentgen::data
