// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The one rule by which commands find an image that a list or a table of predictions names.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>

namespace roentgen::cli {

/// Where images are found: by whole name, else by base name where only one image has it.
class NameIndex {
 public:
  void add(const std::string& image, std::size_t row);
  /// Nothing when there is none, or two of that base name.
  [[nodiscard]] std::optional<std::size_t> find(const std::string& image) const;

 private:
  static constexpr std::size_t kTwice = std::numeric_limits<std::size_t>::max();
  std::unordered_map<std::string, std::size_t> whole_;
  std::unordered_map<std::string, std::size_t> base_;
};

}  // namespace roentgen::cli
