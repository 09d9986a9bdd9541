// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Forms in which records state labels. For src/data/source only.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace roentgen::data {

/// Labels by name (1, 0, -1 = unknown). All records have the same names.
struct NamedLabels {
  std::vector<std::string> names;
  std::vector<std::int64_t> values;
  friend bool operator==(const NamedLabels&, const NamedLabels&) = default;
};
/// Names of the findings that are present. All other names that occur in any record are 0 for this one.
struct FoundLabels {
  std::vector<std::string> names;
  friend bool operator==(const FoundLabels&, const FoundLabels&) = default;
};
/// Class of an image, at least 0, and its name if it has one.
struct ClassLabel {
  std::int64_t number = 0;
  std::string name{};
  friend bool operator==(const ClassLabel&, const ClassLabel&) = default;
};
/// Labels of one record's image. All records of a data set use the same alternative.
using RecordLabels = std::variant<NamedLabels, FoundLabels, ClassLabel>;

}  // namespace roentgen::data
