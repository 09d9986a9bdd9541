// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Findings that a table lists as text ("Mass|Effusion"): which labels they mean in whatever spelling, and which of them
// no label asks for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roentgen::data {

/// The number that a text spells in decimal digits, apart from blanks around it; nullopt for anything else.
[[nodiscard]] std::optional<double> number_of(std::string_view text);

/// Parts of a field that lists names with `|`, `;`, `,` or a line end between, without blanks, quotes and brackets
/// around them.
[[nodiscard]] std::vector<std::string> split_names(std::string_view text);

/// Names that a table has and no label asks for, with counts. One thread.
class UnaskedNames {
 public:
  void add(const std::string& name) { ++counts_[name]; }  ///< counts one
  /// "title: Efusion 2, Scar 1 and 3 more"; empty when there is none. Names that look like a slip of one of `labels`
  /// come first, then the most frequent ones. Names of over 40 bytes, which may be reports, are counted alone.
  [[nodiscard]] std::string note(std::string_view title, const std::vector<std::string>& labels) const;

 private:
  std::map<std::string, std::int64_t> counts_;
};

/// Finds the labels meant by names in a table's rows. A name means the label of exactly that name, else the labels of
/// equal finding_text_key(), or, for a number, the labels equal as numbers. One thread.
class FindingText {
 public:
  explicit FindingText(std::vector<std::string> labels);  ///< labels to find, in the order of read()'s result

  /// (K) Labels that a field means: all of it as one name, else the names that it lists. Counts names that mean none.
  [[nodiscard]] std::vector<bool> read(const std::string& field);
  /// True when a row so far named this label.
  [[nodiscard]] bool has_met(std::size_t label) const { return has_met_.at(label); }
  /// UnaskedNames::note() of the rows read; NIH's "No Finding" is not counted.
  [[nodiscard]] std::string note(std::string_view title) const { return unasked_.note(title, labels_); }

 private:
  [[nodiscard]] const std::vector<std::size_t>& labels_of(const std::string& name);

  std::vector<std::string> labels_;
  std::vector<std::string> keys_;
  std::vector<bool> has_met_;
  /// Labels of each name that occurred.
  std::map<std::string, std::vector<std::size_t>> known_;
  UnaskedNames unasked_;
};

}  // namespace roentgen::data
