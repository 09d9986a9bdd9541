// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What record files say of their images' labels. For src/data/source only.
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
/// What was found, by name; of everything that any record names the rest is 0.
struct FoundLabels {
  std::vector<std::string> names;
  friend bool operator==(const FoundLabels&, const FoundLabels&) = default;
};
/// One class an image, of at least 0; its name where it has one.
struct ClassLabel {
  std::int64_t number = 0;
  std::string name{};
  friend bool operator==(const ClassLabel&, const ClassLabel&) = default;
};
/// What a record says of its image's labels. All records of a data set say it in one form.
using RecordLabels = std::variant<NamedLabels, FoundLabels, ClassLabel>;

}  // namespace roentgen::data
