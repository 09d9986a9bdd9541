// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Labels of images in record files. For src/data/source only.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace roentgen::data {

/// Labels by name, the same names in all records: 1, 0, -1 = unknown.
struct NamedLabels {
  std::vector<std::string> names;
  std::vector<std::int64_t> values;
  friend bool operator==(const NamedLabels&, const NamedLabels&) = default;
};
/// Names of the findings that are present. Every other name that occurs in any record is 0.
struct FoundLabels {
  std::vector<std::string> names;
  friend bool operator==(const FoundLabels&, const FoundLabels&) = default;
};
/// Class of an image, at least 0; its name where it has one.
struct ClassLabel {
  std::int64_t number = 0;
  std::string name{};
  friend bool operator==(const ClassLabel&, const ClassLabel&) = default;
};
/// Label of a record's image. All records of a data set use one form.
using RecordLabels = std::variant<NamedLabels, FoundLabels, ClassLabel>;

}  // namespace roentgen::data
