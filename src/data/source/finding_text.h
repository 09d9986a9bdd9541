// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads findings that a table lists as text ("Mass|Effusion"): finds the labels that they mean in any spelling, and
// collects names that no label matches.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roentgen::data {

/// Parses a decimal number, ignoring blanks around it; nullopt for anything else.
[[nodiscard]] std::optional<double> number_of(std::string_view text);

/// Splits a field at `|`, `;`, `,` and line ends into names, without blanks, quotes and brackets around them.
[[nodiscard]] std::vector<std::string> split_names(std::string_view text);

/// Counts names in a table that match no requested label. Not thread-safe.
class UnaskedNames {
 public:
  void add(const std::string& name) { ++counts_[name]; }  ///< counts one occurrence of `name`
  /// Note such as "title: Efusion 2, Scar 1 and 3 more"; empty if no name was counted. Names that look like a
  /// misspelling of one of `labels` come first, then the most frequent ones. Names over 40 bytes, which may be report
  /// texts, are only counted, not shown.
  [[nodiscard]] std::string note(std::string_view title, const std::vector<std::string>& labels) const;

 private:
  std::map<std::string, std::int64_t> counts_;
};

/// Finds the labels that names in a table's rows mean. A name means the label with exactly that name, else all labels
/// with the same finding_text_key(). A number means the labels that are equal as numbers. Not thread-safe.
class FindingText {
 public:
  explicit FindingText(std::vector<std::string> labels);  ///< labels to find; read() returns results in this order

  /// Returns which labels (K) a field means: first tries the whole field as one name, else each name in it. Counts
  /// names that match no label.
  [[nodiscard]] std::vector<bool> read(const std::string& field);
  /// True if a row read so far named this label.
  [[nodiscard]] bool has_met(std::size_t label) const { return has_met_.at(label); }
  /// UnaskedNames::note() for the rows read so far, without NIH's "No Finding".
  [[nodiscard]] std::string note(std::string_view title) const { return unasked_.note(title, labels_); }

 private:
  [[nodiscard]] const std::vector<std::size_t>& labels_of(const std::string& name);

  std::vector<std::string> labels_;
  std::vector<std::string> keys_;
  std::vector<bool> has_met_;
  /// Indices of the labels that a name means, for each name read so far.
  std::map<std::string, std::vector<std::size_t>> known_;
  UnaskedNames unasked_;
};

}  // namespace roentgen::data
