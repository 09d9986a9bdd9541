// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The source `class_folders`: a folder a class, with its images anywhere below, as torchvision's ImageFolder reads it;
// these folders lie in the data folder, or in its folders train, val (valid, validation) and test, in whatever case.
// One class an image: the label of its folder is 1, all others are 0. What is left out is counted.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.h"
#include "data/source/finding_names.h"
#include "data/source/folder_walk.h"
#include "data/source/image_index.h"
#include "data/source/record_listing.h"
#include "data/source/source.h"
#include "data/source/split.h"
#include "io/sha256.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kThing = "data.class_folders";

/// What a folder holds, by name.
struct Entries {
  std::vector<std::string> folders, images, dangling;
};

Entries entries_of(const fs::path& folder) {
  Entries entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().string();
    if (name.starts_with('.')) continue;
    std::error_code unreadable;
    if (at->is_directory(unreadable)) {
      if (!is_companion_folder(name) && name != kArchiveFolder) entries.folders.push_back(std::move(name));
    } else if (!at->exists(unreadable)) {
      entries.dangling.push_back(std::move(name));
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
  std::ranges::sort(entries.dangling);
  return entries;
}

std::optional<Split> split_named(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Split>, 7> kNames{{{"train", Split::Train},
                                                                      {"training", Split::Train},
                                                                      {"val", Split::Val},
                                                                      {"valid", Split::Val},
                                                                      {"validation", Split::Val},
                                                                      {"test", Split::Test},
                                                                      {"testing", Split::Test}}};
  const std::string key = spelling_key(name);
  const auto found = std::ranges::find(kNames, key, &std::pair<std::string_view, Split>::first);
  return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

/// A class's folder, in one part of the data set.
struct ClassFolder {
  /// Below the root.
  fs::path path;
  std::string name;
  Split split = Split::None;
};

/// Layout of a data set's folders.
struct Layout {
  std::vector<ClassFolder> folders{};
  /// Folders beside train, val and test.
  std::vector<std::string> beside{};
  /// The only folder with the name of a split, which holds folders as a split does, among others: it may be a class.
  std::string unclear{};
  /// Below the root: links that lead nowhere.
  std::vector<std::string> dangling{};
  /// Images in the root, or in train, val and test, that lie in no class's folder.
  std::int64_t loose = 0;
};

Layout layout_of(const fs::path& root) {
  Entries top = entries_of(root);
  Layout layout{.dangling = std::move(top.dangling), .loose = std::ssize(top.images)};
  std::vector<std::string> splits;
  for (const std::string& name : top.folders) (split_named(name) ? splits : layout.beside).push_back(name);
  if (splits.size() == 1 && !layout.beside.empty()) {
    const Entries only = entries_of(root / splits.front());
    if (only.images.empty() && !only.folders.empty()) layout.unclear = splits.front();
  }
  if (splits.size() < 2 && !layout.beside.empty()) {
    layout.beside.clear();
    for (const std::string& name : top.folders) layout.folders.push_back({.path = name, .name = name});
    return layout;
  }
  for (const std::string& name : splits) {
    const Entries inner = entries_of(root / name);
    layout.loose += std::ssize(inner.images);
    for (const std::string& link : inner.dangling) layout.dangling.push_back(fs::path(name) / link);
    for (const std::string& folder : inner.folders) {
      layout.folders.push_back({.path = fs::path(name) / folder, .name = folder, .split = *split_named(name)});
    }
  }
  return layout;
}

std::set<std::string> names_of(const std::vector<ClassFolder>& folders) {
  std::set<std::string> names;
  for (const ClassFolder& folder : folders) names.insert(folder.name);
  return names;
}

/// Path below the root of what a walk from there told.
fs::path below(const fs::path& root, const fs::path& path) { return path.native().substr((root / "").native().size()); }

/// Refuses a folder that is two: of two classes, or of two splits where they count.
void check_apart(const Layout& layout, const LeftOut& left_out, const SourceOptions& options) {
  const auto folder_of = [&](const fs::path& path) {
    const std::string own = below(options.root, path).generic_string() + '/';
    return std::ranges::find_if(
        layout.folders, [&own](const ClassFolder& one) { return own.starts_with(one.path.generic_string() + '/'); });
  };
  for (const auto& [path, first] : left_out.repeated) {
    const auto one = folder_of(path), other = folder_of(first);
    if (one->name == other->name && (one->split == other->split || !uses_given_splits(options.split))) continue;
    throw DataError(error_text(kThing, options.root.string(), "each folder in one class and one split",
                               fmt::format("{}, which by a link is {}", below(options.root, path).generic_string(),
                                           below(options.root, first).generic_string()),
                               "removing the link, or one --data without it"));
  }
}

/// Refuses links that lead nowhere, or notes them.
void settle_dangling(const std::vector<std::string>& names, const SourceOptions& options, Listing& listing) {
  if (names.empty()) return;
  const std::string got = fmt::format("{} that lead nowhere", names.size());
  if (options.absent == Absent::Refuse) {
    throw DataError(error_text(kThing, options.root.string(), "links to images and folders",
                               fmt::format("{} ({})", got, first_names(names)),
                               "mounting what they lead to, or --set data.absent=skip to go on without them"));
  }
  listing.notes.push_back("links left out: " + got);
}

std::int64_t count_images(const fs::path& folder) {
  std::int64_t images = 0;
  FolderWalk walk(WalkOrder::Mixed, [&images](const fs::path& path) {
    images += has_image_extension(path) ? 1 : 0;
    return true;
  });
  walk.walk(folder);
  return images;
}

/// Notes what lies beside the folders of classes.
void note_beside(const Layout& layout, const SourceOptions& options, Listing& listing) {
  std::string text;
  for (const std::string& name : layout.beside) {
    text += fmt::format("{}{} (image files: {})", text.empty() ? "" : ", ", name, count_images(options.root / name));
  }
  if (!text.empty()) listing.notes.push_back("folders beside those of train, val and test, left out: " + text);
  if (layout.loose > 0) {
    listing.notes.push_back(fmt::format("images in no class's folder, left out: {}", layout.loose));
  }
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

void check_layout(const Layout& layout, const std::set<std::string>& classes, const SourceOptions& options) {
  if (!options.csv.empty()) {
    throw ConfigError(error_text(kThing, "data.csv", "none, since folders are the labels", options.csv.front().string(),
                                 "data.source=csv"));
  }
  if (!layout.unclear.empty()) {
    throw DataError(error_text(
        kThing, options.root.string(), "folders train, val and test, or a folder for each class and none called so",
        fmt::format("{} beside others", layout.unclear), "renaming it if it is a class, else moving the others away"));
  }
  if (classes.size() < 2) {
    throw DataError(error_text(kThing, options.root.string(), "at least two folders, a class each",
                               fmt::format("{}", classes.size()), "another --data"));
  }
}

/// Refuses or notes all that the walk of the classes' folders did not take.
void settle_left_out(const Layout& layout, LeftOut left_out, const SourceOptions& options, Listing& listing) {
  check_apart(layout, left_out, options);
  std::vector<std::string> dangling = layout.dangling;
  for (const fs::path& path : left_out.dangling) dangling.push_back(below(options.root, path).generic_string());
  settle_dangling(dangling, options, listing);
  left_out.dangling.clear();
  for (std::string& note : left_out.notes("which by their endings are no images")) {
    listing.notes.push_back(std::move(note));
  }
  note_beside(layout, options, listing);
}

}  // namespace

// Only where images lie in nothing but folders of classes, directly: other trees have their tables elsewhere.
bool probe_class_folders(const SourceOptions& options) {
  if (!options.csv.empty() || !entries_of(options.root).images.empty()) return false;
  const Layout layout = layout_of(options.root);
  const auto is_class = [&](const ClassFolder& folder) {
    return !folder.name.starts_with("images") && !entries_of(options.root / folder.path).images.empty();
  };
  return names_of(layout.folders).size() >= 2 && std::ranges::all_of(layout.folders, is_class);
}

Listing list_class_folders(const SourceOptions& options) {
  const Layout layout = layout_of(options.root);
  const std::set<std::string> classes = names_of(layout.folders);
  check_layout(layout, classes, options);
  Listing listing;
  const std::vector<Label> labels = choose_labels(classes, options);
  for (const Label& label : labels) listing.label_names.push_back(label.name);
  check_distinct_findings(listing.label_names);
  std::string table;
  const ClassFolder* folder = nullptr;
  FolderWalk walk(WalkOrder::FilesFirst, [&](const fs::path& path) {
    if (!has_image_extension(path)) return false;
    Sample sample{.id = below(options.root, path).generic_string(),
                  .path = path,
                  .patient = nih_patient(path.filename().string()),
                  .split = folder->split};
    for (const Label& label : labels) {
      sample.labels.push_back(!label.class_name ? std::nanf("") : *label.class_name == folder->name ? 1.0F : 0.0F);
    }
    table += sample.id + '\n';
    listing.samples.push_back(std::move(sample));
    return true;
  });
  for (const ClassFolder& one : layout.folders) {
    folder = &one;
    const std::size_t before = listing.samples.size();
    walk.walk(options.root / one.path);
    if (listing.samples.size() == before) {
      listing.notes.push_back(fmt::format("folder {} has no image", one.path.string()));
    }
    if (one.split != Split::None) listing.given_splits = "folders train, val, test";
  }
  settle_left_out(layout, walk.left_out(), options, listing);
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
