// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Detects files that occur in a data set under several names because of hard or symbolic links.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

namespace roentgen::data {

struct Listing;

/// Identifies files by device and inode. Not thread-safe.
class LinkedFiles {
 public:
  /// Registers a file under a number. If the same file was registered before, returns its number. Returns nullopt if
  /// the file is new or cannot be read.
  [[nodiscard]] std::optional<std::size_t> add(const std::filesystem::path& path, std::size_t number);

 private:
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> numbers_;
};

/// Adds notes on how many pairs in Listing::linked lie in different splits or have different labels. Splits must be
/// assigned before.
void note_linked_files(Listing& listing);

}  // namespace roentgen::data
