// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Assigns folders to data sets: place_folders() of dataset.h.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/error.h"
#include "data/source/dataset.h"
#include "data/source/several.h"
#include "data/source/source.h"

namespace roentgen::data {
namespace {

struct NamedFolder {
  std::string name;
  std::filesystem::path folder;
};

bool is_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
}

/// Parses "NAME=DIR", unless a folder with exactly this name exists.
NamedFolder parse_folder(const std::string& text) {
  std::error_code ignored;
  const auto equals = text.find('=');
  if (equals == std::string::npos || !is_name(text.substr(0, equals)) || std::filesystem::exists(text, ignored)) {
    return {.name = {}, .folder = text};
  }
  return {.name = text.substr(0, equals), .folder = text.substr(equals + 1)};
}

[[noreturn]] void refuse(std::string_view what, std::string_view expected, std::string_view got,
                         std::string_view remedy) {
  throw ConfigError(error_text("data.sources", what, expected, got, remedy));
}

std::string names_of(const std::vector<SourceOptions>& sources) {
  std::vector<std::string> names;
  for (const SourceOptions& source : sources) names.push_back(source.name.empty() ? "one without a name" : source.name);
  return first_names(names, names.size());
}

/// Creates a data set for each folder, all with the same options.
void make_sources(SourceOptions& options, const std::vector<NamedFolder>& folders) {
  SourceOptions one = options;
  one.labels.clear();
  for (const auto& [name, folder] : folders) {
    one.name = name;
    one.root = folder;
    options.sources.push_back(one);
  }
}

void place_by_name(std::vector<SourceOptions>& sources, const std::vector<NamedFolder>& folders) {
  std::set<std::string> placed;
  for (const auto& [name, folder] : folders) {
    const auto found = std::ranges::find(sources, name, &SourceOptions::name);
    if (found == sources.end() || !placed.insert(name).second) {
      refuse(fmt::format("--data {}={}", name, folder.string()), "each data set of [[data.sources]] once",
             found == sources.end() ? "an unknown name" : "this name twice",
             "one of these names: " + names_of(sources));
    }
    found->root = folder;
  }
  std::erase_if(sources, [&placed](const SourceOptions& source) { return !placed.contains(source.name); });
}

void place_in_order(std::vector<SourceOptions>& sources, const std::vector<NamedFolder>& folders) {
  if (folders.size() != sources.size()) {
    refuse("--data", fmt::format("one folder for each data set of [[data.sources]] ({})", names_of(sources)),
           fmt::format("{}", folders.size()),
           "--data NAME=DIR to set only some, or --set 'data.sources=[]' for other data");
  }
  for (std::size_t i = 0; i < sources.size(); ++i) sources[i].root = folders[i].folder;
}

/// Gives every data set a unique name.
void settle_names(std::vector<SourceOptions>& sources) {
  std::set<std::string> names;
  for (SourceOptions& source : sources) {
    if (!source.name.empty() && !is_name(source.name)) {
      refuse("name", "a name of letters, digits, _, - and dots", source.name, "another name in [[data.sources]]");
    }
    const bool is_found = source.name.empty();
    if (is_found) source.name = detected_source(source);
    if (names.insert(source.name).second) continue;
    refuse(source.name, "a different name for each data set",
           is_found ? "two folders of this format" : "this name twice",
           "giving them different names: --data a=DIR --data b=DIR");
  }
}

}  // namespace

void set_split_rule(SourceOptions& options, SplitRule rule) {
  options.split.rule = rule;
  for (SourceOptions& source : options.sources) source.split.rule = rule;
}

std::filesystem::path folder_of(const std::string& text) { return parse_folder(text).folder; }

void place_folders(SourceOptions& options, const std::vector<std::string>& folders) {
  std::vector<NamedFolder> named;
  for (const std::string& text : folders) named.push_back(parse_folder(text));
  const auto with_name = std::ranges::count_if(named, [](const NamedFolder& one) { return !one.name.empty(); });
  if (options.sources.empty() && named.size() == 1 && with_name == 0) {
    options.root = named.front().folder;
    return;
  }
  if (options.sources.empty()) {
    make_sources(options, named);
  } else if (with_name > 0 && with_name == std::ssize(named)) {
    place_by_name(options.sources, named);
  } else if (with_name > 0) {
    refuse("--data", "a name (NAME=DIR) for every --data or for none",
           fmt::format("a name for {} of {}", with_name, named.size()), "naming all of them");
  } else if (!named.empty()) {
    place_in_order(options.sources, named);
  }
  settle_names(options.sources);
  if (!options.sources.empty()) options.root = options.sources.front().root;
}

}  // namespace roentgen::data
