// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/finding_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>

#include "core/error.h"
#include "data/source/source.h"

namespace roentgen::data {
namespace {

/// Key of another name, and the key of NIH's.
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

}  // namespace

std::string finding_key(std::string_view name) {
  std::string key(stripped(name));
  std::ranges::transform(key, key.begin(),
                         [](unsigned char c) { return c == '_' ? ' ' : static_cast<char>(std::tolower(c)); });
  const auto* synonym = std::ranges::find(kSynonyms, key, &std::pair<std::string_view, std::string_view>::first);
  return synonym == kSynonyms.end() ? key : std::string(synonym->second);
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
  std::optional<std::size_t> found;
  const std::string key = finding_key(finding);
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (finding_key(header[i]) != key) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

void check_distinct_findings(const std::vector<std::string>& labels) {
  std::map<std::string, std::string> first;
  for (const std::string& label : labels) {
    const auto [position, is_new] = first.try_emplace(finding_key(label), label);
    if (is_new) continue;
    throw ConfigError(error_text("data.labels", label, "each finding once", "it as " + position->second + " too",
                                 "naming it once in data.labels"));
  }
}

}  // namespace roentgen::data
