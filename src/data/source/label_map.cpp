// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/label_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/error.h"
#include "data/source/finding_names.h"

namespace roentgen::data {
namespace {

constexpr std::string_view kThing = "data.label_map";

const std::string* own_name(const SourceOptions& options, std::string_view label) {
  const auto found = std::ranges::find(options.label_map, label, &std::pair<std::string, std::string>::first);
  return found == options.label_map.end() ? nullptr : &found->second;
}

[[noreturn]] void refuse_contradiction(const std::string& own, const std::string& one, const std::string& other) {
  throw ConfigError(error_text(kThing, own, "one label for this column", fmt::format("two, {} and {}", one, other),
                               "keeping one of them in data.label_map, or changing data.labels"));
}

/// Throws ConfigError if two labels have the same name in the data set. `names` contains pairs of a label and its name
/// in the data set.
void check_distinct_names(const std::vector<std::pair<std::string, std::string>>& names) {
  std::map<std::string, std::string> label_of;
  for (const auto& [label, own] : names) {
    const auto [position, is_new] = label_of.try_emplace(finding_key(own), label);
    if (!is_new) refuse_contradiction(own, position->second, label);
  }
}

void check_asked(const SourceOptions& options) {
  for (const auto& [label, own] : options.label_map) {
    if (std::ranges::find(options.labels, label) != options.labels.end()) continue;
    throw ConfigError(error_text(kThing, label, "a label that data.labels contains",
                                 "a name other than " + first_names(options.labels, options.labels.size()),
                                 "one of these names"));
  }
}

/// Renames the labels of a data set whose labels were all listed.
void rename(Listing& listing, const SourceOptions& options) {
  const std::vector<std::string> found = listing.label_names;
  for (const auto& [label, own] : options.label_map) {
    const auto column = finding_column(found, own);
    if (!column) {
      throw ConfigError(error_text(kThing, label, "the name of a label of the data set", own,
                                   "one of these names: " + first_names(found, found.size())));
    }
    listing.label_names[*column] = label;
  }
  std::vector<std::pair<std::string, std::string>> names;
  for (std::size_t k = 0; k < found.size(); ++k) names.emplace_back(found[k], listing.label_names[k]);
  check_distinct_names(names);
}

}  // namespace

Listing list_mapped(const std::function<Listing(const SourceOptions&)>& list, const SourceOptions& options) {
  if (options.label_map.empty()) return list(options);
  SourceOptions own = options;
  for (auto& [label, policy] : own.label_policies) {
    if (const std::string* name = own_name(options, label)) label = *name;
  }
  if (options.labels.empty()) {
    Listing listing = list(own);
    rename(listing, options);
    return listing;
  }
  check_asked(options);
  std::vector<std::pair<std::string, std::string>> names;
  for (auto& label : own.labels) {
    const std::string* name = own_name(options, label);
    names.emplace_back(label, name == nullptr ? label : *name);
    label = names.back().second;
  }
  check_distinct_names(names);
  Listing listing = list(own);
  for (std::size_t k = 0; k < options.labels.size(); ++k) {
    if (own_name(options, options.labels[k]) != nullptr) listing.label_names.at(k) = options.labels[k];
  }
  return listing;
}

void check_maps_agree(const std::vector<SourceOptions>& sources) {
  std::map<std::string, std::string> label_of;
  for (const SourceOptions& source : sources) {
    for (const auto& [label, own] : source.label_map) {
      const auto [position, is_new] = label_of.try_emplace(finding_key(own), label);
      if (!is_new && finding_key(position->second) != finding_key(label)) {
        refuse_contradiction(own, position->second, label);
      }
    }
  }
}

}  // namespace roentgen::data
