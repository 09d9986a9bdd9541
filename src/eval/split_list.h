// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Published lists of test images, recognised by hash. Results on different lists are not comparable, so every table
// names its list. Only hashes and counts are stored here, not the lists.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/value.h"

namespace roentgen::eval {

/// Published list of images, recognised by the hash of its names.
struct KnownList {
  /// Short name for options and JSON: "nih-official-test".
  std::string_view id;
  /// Name shown to people.
  std::string_view name;
  std::int64_t images = 0;  ///< number of images
  /// SHA-256 (64 lower-case hex digits) of the distinct base names, sorted bytewise, each followed by a newline; see
  /// io::name_list_sha256().
  std::string_view sha256;
};

/// All known lists.
[[nodiscard]] std::span<const KnownList> known_lists();

/// Returns the known list with this hash, or nullptr. The result lives as long as the program. To add a list, add a
/// line in split_list.cpp: id, name, number of images, and the hash that `roentgen eval` or `inspect` prints.
[[nodiscard]] const KnownList* find_known_list(std::string_view sha256);
/// Finds the list with this hash in `lists`, which must outlive the result.
[[nodiscard]] const KnownList* find_known_list(std::string_view sha256, std::span<const KnownList> lists);
/// Returns the id of the known list with this hash for JSON, or null.
[[nodiscard]] Value known_list_value(std::string_view sha256);

}  // namespace roentgen::eval
