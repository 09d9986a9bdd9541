// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Files that hard or symbolic links put into a data set under several names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

namespace roentgen::data {

struct Listing;

/// Recognises a file by its device and inode. One thread.
class LinkedFiles {
 public:
  /// Registers a file under a number. Returns the number of the same file if it was registered before; nullopt: it is
  /// new, or cannot be read.
  [[nodiscard]] std::optional<std::size_t> add(const std::filesystem::path& path, std::size_t number);

 private:
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::size_t> numbers_;
};

/// Notes how many of Listing::linked are in two of train, val and test, or have different labels. Splits must be known.
void note_linked_files(Listing& listing);

}  // namespace roentgen::data
