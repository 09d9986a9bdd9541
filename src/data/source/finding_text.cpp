// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/finding_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <tuple>
#include <utility>

#include "data/source/finding_names.h"
#include "data/source/findings.h"
#include "data/source/source.h"

namespace roentgen::data {
namespace {

constexpr std::size_t kShown = 8;
constexpr std::size_t kLongest_bytes = 40;

/// Number of insertions, deletions and replacements that turn one text into the other (Levenshtein 1966).
std::size_t edits_between(std::string_view one, std::string_view other) {
  std::vector<std::size_t> row(other.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < one.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < other.size(); ++j) {
      const std::size_t replaced = diagonal + (one[i] == other[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

bool looks_like(const std::string& name, const std::vector<std::string>& labels) {
  constexpr std::size_t kMost_edits = 2, kShortest = 4;
  const std::string key = finding_text_key(name);
  return key.size() <= kLongest_bytes && std::ranges::any_of(labels, [&key](const std::string& label) {
           const std::string wanted = finding_text_key(label);
           return std::min(key.size(), wanted.size()) >= kShortest && edits_between(key, wanted) <= kMost_edits;
         });
}

/// finding_text_key() of a name. For a number its shortest form, so that "1" and "1.0" are equal and "-1" differs.
std::string key_of(std::string_view name) {
  const auto number = number_of(name);
  return number ? fmt::format("{}", *number) : finding_text_key(name);
}

}  // namespace

std::optional<double> number_of(std::string_view text) {
  text = stripped(text);
  if (text.find_first_not_of("0123456789.+-eE") != std::string_view::npos) return std::nullopt;  // excludes "inf"
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number == 0.0 ? 0.0 : number;  // -0 becomes 0
}

std::vector<std::string> split_names(std::string_view text) {
  constexpr std::string_view kSeparators = "|;,\r\n", kAround = " \t[]'\"";
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(kSeparators), text.size());
    std::string_view part = text.substr(0, end);
    part.remove_prefix(std::min(part.find_first_not_of(kAround), part.size()));
    part = part.substr(0, part.find_last_not_of(kAround) + 1);
    if (!part.empty()) names.emplace_back(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

std::string UnaskedNames::note(std::string_view title, const std::vector<std::string>& labels) const {
  if (counts_.empty()) return {};
  // Sort keys: false for a likely typo, then -count, then the name.
  std::vector<std::tuple<bool, std::int64_t, std::string>> order;
  for (const auto& [name, count] : counts_) {
    if (name.size() <= kLongest_bytes) order.emplace_back(!looks_like(name, labels), -count, name);
  }
  std::ranges::sort(order);
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, order.size()); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", std::get<2>(order[i]), -std::get<1>(order[i]));
  }
  if (counts_.size() > std::min(kShown, order.size())) {
    text += fmt::format("{}{} more", text.empty() ? "" : " and ", counts_.size() - std::min(kShown, order.size()));
  }
  return fmt::format("{}: {}", title, text);
}

FindingText::FindingText(std::vector<std::string> labels) : labels_(std::move(labels)), has_met_(labels_.size()) {
  for (const std::string& label : labels_) keys_.push_back(key_of(label));
}

const std::vector<std::size_t>& FindingText::labels_of(const std::string& name) {
  const auto [position, is_new] = known_.try_emplace(name);
  if (!is_new) return position->second;
  const std::string key = key_of(name);
  const auto exact = std::ranges::find(labels_, name);
  for (std::size_t k = 0; k < labels_.size(); ++k) {
    const bool is_it = exact != labels_.end() ? labels_[k] == name : keys_[k] == key;
    if (is_it) position->second.push_back(k);
  }
  return position->second;
}

std::vector<bool> FindingText::read(const std::string& field) {
  std::vector<std::string> names{field};
  if (labels_of(field).empty()) names = split_names(field);
  std::vector<bool> named(labels_.size());
  for (const std::string& name : names) {
    const std::vector<std::size_t>& meant = labels_of(name);
    for (const std::size_t k : meant) named[k] = has_met_[k] = true;
    if (meant.empty() && finding_text_key(name) != finding_text_key(kNoFinding)) unasked_.add(name);
  }
  return named;
}

}  // namespace roentgen::data
