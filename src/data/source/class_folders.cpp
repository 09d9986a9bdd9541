// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The source `class_folders`: a folder a class, with its images anywhere below, as torchvision's ImageFolder reads it;
// these folders lie in the data folder, or in its folders train, val (valid, validation) and test. One class an image:
// the label of its folder is 1, all others are 0.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "data/source/finding_names.h"
#include "data/source/image_index.h"
#include "data/source/record_listing.h"
#include "data/source/source.h"
#include "io/sha256.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kThing = "data.class_folders";

/// What a folder holds, by name.
struct Entries {
  std::vector<std::string> folders, images;
};

Entries entries_of(const fs::path& folder) {
  Entries entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().string();
    if (name.starts_with('.')) continue;
    std::error_code unreadable;
    if (at->is_directory(unreadable)) {
      if (!is_companion_folder(name)) entries.folders.push_back(std::move(name));
    } else if (at->is_regular_file(unreadable) && has_image_extension(name)) {
      entries.images.push_back(std::move(name));
    }
  }
  if (error) {
    throw DataError(
        error_text(kThing, folder.string(), "a readable folder", error.message(), "other permissions there"));
  }
  std::ranges::sort(entries.folders);
  std::ranges::sort(entries.images);
  return entries;
}

std::optional<Split> split_named(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Split>, 6> kNames{{{"train", Split::Train},
                                                                      {"training", Split::Train},
                                                                      {"val", Split::Val},
                                                                      {"valid", Split::Val},
                                                                      {"validation", Split::Val},
                                                                      {"test", Split::Test}}};
  const auto found = std::ranges::find(kNames, name, &std::pair<std::string_view, Split>::first);
  return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

/// A class's folder, in one part of the data set.
struct ClassFolder {
  /// Below the root.
  fs::path path;
  std::string name;
  Split split = Split::None;
};

std::vector<ClassFolder> class_folders(const fs::path& root) {
  const std::vector<std::string> names = entries_of(root).folders;
  const auto is_split = [](const std::string& name) { return split_named(name).has_value(); };
  const bool has_splits = !names.empty() && std::ranges::all_of(names, is_split);
  std::vector<ClassFolder> folders;
  for (const std::string& name : names) {
    if (!has_splits) {
      folders.push_back({.path = name, .name = name});
      continue;
    }
    for (const std::string& inner : entries_of(root / name).folders) {
      folders.push_back({.path = fs::path(name) / inner, .name = inner, .split = *split_named(name)});
    }
  }
  return folders;
}

std::set<std::string> names_of(const std::vector<ClassFolder>& folders) {
  std::set<std::string> names;
  for (const ClassFolder& folder : folders) names.insert(folder.name);
  return names;
}

// Links to folders are followed, each real folder once: they may lead back.
void list_images(const fs::path& root, const fs::path& below, std::set<fs::path>& visited, std::vector<fs::path>& out) {
  std::error_code error;
  const fs::path real = fs::canonical(root / below, error);
  if (error || !visited.insert(real).second) return;
  const Entries entries = entries_of(root / below);
  for (const std::string& image : entries.images) out.push_back(below / image);
  for (const std::string& folder : entries.folders) list_images(root, below / folder, visited, out);
}

/// A label, and the class that it is; nothing: none here.
struct Label {
  std::string name;
  std::optional<std::string> class_name;
};

std::vector<Label> choose_labels(const std::set<std::string>& classes, const SourceOptions& options) {
  const std::vector<std::string> names(classes.begin(), classes.end());
  std::vector<Label> labels;
  for (const std::string& label : options.labels.empty() ? names : options.labels) {
    const auto column = finding_column(names, label);
    if (!column && options.unknown_labels == UnknownLabels::Refuse) {
      throw ConfigError(error_text("data.labels", label, "the name of a class's folder", first_names(names),
                                   "data.labels=[] for all of them"));
    }
    labels.push_back({.name = label, .class_name = column ? std::optional(names[*column]) : std::nullopt});
  }
  return labels;
}

}  // namespace

// Only where images lie in nothing but folders of classes, directly: other trees have their tables elsewhere.
bool probe_class_folders(const SourceOptions& options) {
  if (!options.csv.empty() || !entries_of(options.root).images.empty()) return false;
  const auto folders = class_folders(options.root);
  const auto is_class = [&](const ClassFolder& folder) {
    return !folder.name.starts_with("images") && !entries_of(options.root / folder.path).images.empty();
  };
  return names_of(folders).size() >= 2 && std::ranges::all_of(folders, is_class);
}

Listing list_class_folders(const SourceOptions& options) {
  if (!options.csv.empty()) {
    throw ConfigError(error_text(kThing, "data.csv", "none, since folders are the labels", options.csv.front().string(),
                                 "data.source=csv"));
  }
  const auto folders = class_folders(options.root);
  const std::set<std::string> classes = names_of(folders);
  if (classes.size() < 2) {
    throw DataError(error_text(kThing, options.root.string(), "at least two folders, a class each",
                               fmt::format("{}", classes.size()), "another --data"));
  }
  Listing listing;
  const std::vector<Label> labels = choose_labels(classes, options);
  for (const Label& label : labels) listing.label_names.push_back(label.name);
  check_distinct_findings(listing.label_names);
  std::set<fs::path> visited;
  std::string table;
  for (const ClassFolder& folder : folders) {
    std::vector<fs::path> images;
    list_images(options.root, folder.path, visited, images);
    if (images.empty()) listing.notes.push_back(fmt::format("folder {} has no image", folder.path.string()));
    if (folder.split != Split::None) listing.given_splits = "folders train, val, test";
    for (const fs::path& image : images) {
      Sample sample{.id = image.generic_string(),
                    .path = options.root / image,
                    .patient = nih_patient(image.filename().string()),
                    .split = folder.split};
      for (const Label& label : labels) {
        sample.labels.push_back(!label.class_name ? std::nanf("") : *label.class_name == folder.name ? 1.0F : 0.0F);
      }
      table += sample.id + '\n';
      listing.samples.push_back(std::move(sample));
    }
  }
  if (listing.samples.empty()) {
    throw DataError(
        error_text(kThing, options.root.string(), "an image in the folders of classes", "none", "another --data"));
  }
  listing.csv = {options.root / "folders"};
  listing.csv_sha256 = {io::sha256_hex(table)};
  listing.notes.push_back(
      fmt::format("{} classes; what is given as hash of the table is that of the images' names", classes.size()));
  return listing;
}

}  // namespace roentgen::data
