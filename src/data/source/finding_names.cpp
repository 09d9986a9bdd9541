// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/finding_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>

#include "core/error.h"
#include "data/source/chexpert_labels.h"
#include "data/source/findings.h"
#include "data/source/source.h"

namespace roentgen::data {
namespace {

/// Pairs of a synonym's key and the key of NIH's name.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kSynonyms{{
    {"pleural effusion", "effusion"},
    {"infiltrate", "infiltration"},
    {"infiltrates", "infiltration"},
    {"pulmonary mass", "mass"},
    {"pulmonary nodule", "nodule"},
    {"pulmonary edema", "edema"},
    {"pulmonary fibrosis", "fibrosis"},
    {"hiatal hernia", "hernia"},
    {"hiatus hernia", "hernia"},
    {"enlarged heart", "cardiomegaly"},
    {"normal", "no finding"},
}};

std::vector<std::size_t> columns_of_key(const std::vector<std::string>& header, std::string_view finding) {
  const std::string key = finding_key(in_one_line(finding));
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (finding_key(in_one_line(header[i])) == key) columns.push_back(i);
  }
  return columns;
}

}  // namespace

std::string finding_key(std::string_view name) {
  std::string key(stripped(name));
  std::ranges::transform(key, key.begin(),
                         [](unsigned char c) { return c == '_' ? ' ' : static_cast<char>(std::tolower(c)); });
  const auto* synonym = std::ranges::find(kSynonyms, key, &std::pair<std::string_view, std::string_view>::first);
  return synonym == kSynonyms.end() ? key : std::string(synonym->second);
}

bool is_known_finding(std::string_view name) {
  const std::string key = finding_text_key(name);
  const auto is_it = [&key](std::string_view known) { return finding_text_key(known) == key; };
  return std::ranges::any_of(kNihFindings, is_it) || std::ranges::any_of(kChexpertFindings, is_it);
}

std::string spelling_key(std::string_view name) {
  constexpr std::string_view kNoBreakSpace = "\xC2\xA0";
  std::string key;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i).starts_with(kNoBreakSpace)) {
      ++i;
      continue;
    }
    const auto c = static_cast<unsigned char>(name[i]);
    if (std::isspace(c) == 0 && c != '_' && c != '-') key += static_cast<char>(std::tolower(c));
  }
  return key;
}

std::string finding_text_key(std::string_view name) {
  std::string key = spelling_key(name);
  const auto* synonym =
      std::ranges::find_if(kSynonyms, [&key](const auto& one) { return spelling_key(one.first) == key; });
  return synonym == kSynonyms.end() ? key : spelling_key(synonym->second);
}

std::optional<std::size_t> finding_column(const std::vector<std::string>& header, std::string_view finding) {
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (stripped(header[i]) == finding) return i;
  }
  const std::vector<std::size_t> found = columns_of_key(header, finding);
  return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
}

void refuse_ambiguous_column(const std::vector<std::string>& header, std::string_view what, const std::string& label) {
  for (const std::string& name : {label, label.substr(0, label.find(':'))}) {
    if (finding_column(header, name)) return;
    std::vector<std::string> found;
    for (const std::size_t i : columns_of_key(header, name)) found.emplace_back(stripped(header[i]));
    if (found.empty()) continue;
    throw ConfigError(error_text("data.labels", label, fmt::format("a single column for this finding in {}", what),
                                 first_names(found, found.size()),
                                 "the exact name of one of these columns in data.labels, or renaming the others"));
  }
}

void check_distinct_findings(const std::vector<std::string>& labels) {
  std::map<std::string, std::string> first;
  for (const std::string& label : labels) {
    const auto [position, is_new] = first.try_emplace(finding_key(label), label);
    if (is_new) continue;
    throw ConfigError(error_text("data.labels", label, "each finding in one label only",
                                 "the same finding in label " + position->second,
                                 "removing one of the two from data.labels"));
  }
}

}  // namespace roentgen::data
