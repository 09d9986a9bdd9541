// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/several.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/error.h"
#include "core/error_parts.h"
#include "core/foreign_text.h"
#include "data/source/finding_names.h"
#include "data/source/label_map.h"
#include "data/source/source.h"
#include "data/source/split.h"

namespace roentgen::data {
namespace {

constexpr std::string_view kThing = "data.sources";

/// Options for loading one data set: its own options, with the common labels that it has.
SourceOptions asked_of(const SourceOptions& source, const SourceOptions& all) {
  SourceOptions asked = source;
  asked.unknown_labels = UnknownLabels::Mask;
  if (asked.labels.empty()) asked.labels = all.labels;
  for (const std::string& label : asked.labels) {
    if (all.labels.empty() || std::ranges::find(all.labels, label) != all.labels.end()) continue;
    throw ConfigError(
        error_text(kThing, fmt::format("{}: label {}", source.name, label), "a label that data.labels contains",
                   "a name other than " + first_names(all.labels, all.labels.size()), "one of these names"));
  }
  return asked;
}

/// Loads one of the data sets and adds its name to errors.
Dataset load_part(const SourceOptions& asked, TableFiles& tables) {
  const std::string place = asked.name + ": ";
  try {
    if (asked.root.empty()) {
      throw ConfigError(
          error_text(kThing, "folder", "a folder for each data set", "no folder for this one",
                     fmt::format("--data {}, if the command accepts several", shell_word(asked.name + "=DIR"))));
    }
    return load_one(asked, tables);
  } catch (const ConfigError& error) {
    throw ConfigError(with_place(error.what(), place));
  } catch (const DataError& error) {
    throw DataError(with_place(error.what(), place));
  }
}

std::vector<std::string> labels_of_all(const SourceOptions& options, const std::vector<Dataset>& parts) {
  if (!options.labels.empty()) return options.labels;
  std::vector<std::string> names;
  std::set<std::string> keys;
  for (const Dataset& part : parts) {
    for (const std::string& label : part.label_names) {
      if (keys.insert(finding_key(label)).second) names.push_back(label);
    }
  }
  return names;
}

/// Moves the labels of one data set to their positions in the common list, and records which labels it knows.
void spread_labels(Dataset& part, const std::vector<std::string>& names) {
  std::map<std::string, std::size_t> place;
  for (std::size_t k = 0; k < names.size(); ++k) place.emplace(finding_key(names[k]), k);
  std::vector<std::size_t> to;
  for (const std::string& label : part.label_names) to.push_back(place.at(finding_key(label)));
  std::vector<bool> is_known(names.size());
  for (Sample& sample : part.samples) {
    std::vector<float> labels(names.size(), std::numeric_limits<float>::quiet_NaN());
    for (std::size_t k = 0; k < to.size(); ++k) {
      labels[to[k]] = sample.labels[k];
      if (!std::isnan(sample.labels[k])) is_known[to[k]] = true;
    }
    sample.labels = std::move(labels);
  }
  part.parts.front().known_labels.clear();
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (is_known[k]) part.parts.front().known_labels.push_back(names[k]);
  }
}

void check_policies(const SourceOptions& options, const std::vector<std::string>& labels) {
  for (const SourceOptions& source : options.sources) {
    for (const auto& policy : source.label_policies) {
      const std::string key = finding_key(policy.first);
      if (std::ranges::any_of(labels, [&key](const std::string& label) { return finding_key(label) == key; })) continue;
      throw ConfigError(error_text(kThing, fmt::format("{}: data.label_policy of \"{}\"", source.name, policy.first),
                                   "one of the labels in use",
                                   "a name other than " + first_names(labels, labels.size()), "one of these names"));
    }
  }
}

/// Throws DataError if a data set shares no label with any other. It would teach a network to distinguish data sets,
/// not findings.
void check_common_label(const std::vector<Dataset>& parts) {
  const auto shares = [](const DatasetPart& one, const DatasetPart& other) {
    return std::ranges::any_of(one.known_labels, [&other](const std::string& label) {
      return std::ranges::find(other.known_labels, label) != other.known_labels.end();
    });
  };
  for (const Dataset& part : parts) {
    const DatasetPart& one = part.parts.front();
    const bool is_shared = std::ranges::any_of(
        parts, [&](const Dataset& other) { return &other != &part && shares(one, other.parts.front()); });
    if (parts.size() == 1 || is_shared) continue;
    throw DataError(error_text(kThing, one.name, "at least one label in common with another data set",
                               "none (its labels: " + first_names(one.known_labels) + ")",
                               "other data.labels, or data.label_map if the same label has different names"));
  }
}

/// Prefixes image names that occur in two data sets with the name of the data set. If names are still not unique,
/// prefixes all names.
void make_names_unique(std::vector<Dataset>& parts) {
  std::unordered_map<std::string, std::size_t> owner;
  std::set<std::string> shared;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (const Sample& sample : parts[i].samples) {
      const auto [position, is_new] = owner.try_emplace(sample.id, i);
      if (!is_new && position->second != i) shared.insert(sample.id);
    }
  }
  if (shared.empty()) return;
  const auto prefixed = [](const Dataset& part, const std::string& id) { return part.parts.front().name + "/" + id; };
  const bool is_taken = std::ranges::any_of(parts, [&](const Dataset& part) {
    return std::ranges::any_of(shared, [&](const std::string& id) { return owner.contains(prefixed(part, id)); });
  });
  for (Dataset& part : parts) {
    for (Sample& sample : part.samples) {
      if (is_taken || shared.contains(sample.id)) sample.id = prefixed(part, sample.id);
    }
  }
}

void append(Dataset& all, Dataset part) {
  const DatasetPart& what = part.parts.front();
  const auto number = static_cast<std::uint32_t>(all.parts.size());
  all.source += (all.source.empty() ? "" : " + ") + what.name;
  all.split_origin += fmt::format("{}{}: {}", all.split_origin.empty() ? "" : " | ", what.name, part.split_origin);
  for (const std::string& note : part.notes) all.notes.push_back(fmt::format("{}: {}", what.name, note));
  all.left_out_images += part.left_out_images;
  all.csv.insert(all.csv.end(), part.csv.begin(), part.csv.end());
  all.csv_sha256.insert(all.csv_sha256.end(), part.csv_sha256.begin(), part.csv_sha256.end());
  for (Sample& sample : part.samples) {
    sample.part = number;
    for (std::string* id : {&sample.patient, &sample.written_patient, &sample.study}) {
      if (!id->empty()) *id = what.patient_namespace + "\n" + *id;
    }
    all.samples.push_back(std::move(sample));
  }
  all.parts.push_back(what);
}

}  // namespace

Dataset load_several(const SourceOptions& options, TableFiles& tables) {
  check_distinct_findings(options.labels);
  check_maps_agree(options.sources);
  std::vector<Dataset> parts;
  for (const SourceOptions& source : options.sources) parts.push_back(load_part(asked_of(source, options), tables));
  Dataset all;
  all.label_names = labels_of_all(options, parts);
  check_policies(options, all.label_names);
  for (Dataset& part : parts) spread_labels(part, all.label_names);
  if (parts.size() == 1) {
    parts.front().label_names = std::move(all.label_names);
    return std::move(parts.front());
  }
  if (options.unknown_labels == UnknownLabels::Refuse) check_common_label(parts);
  make_names_unique(parts);
  all.root = parts.front().root;
  for (Dataset& part : parts) append(all, std::move(part));
  refuse_shared_patients(all.samples);
  return all;
}

}  // namespace roentgen::data
