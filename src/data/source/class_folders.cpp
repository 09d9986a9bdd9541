// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Dataset reader `class_folders`: one folder per class with its images anywhere below it, as torchvision's ImageFolder
// reads it. Class folders lie in the data folder, or in its folders train, val (valid, validation) and test, in any
// case. An image has one class: the label of its folder is 1, all others are 0. Skipped files are counted.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/error.h"
#include "data/source/class_layout.h"
#include "data/source/finding_names.h"
#include "data/source/folder_walk.h"
#include "data/source/image_index.h"
#include "data/source/linked_files.h"
#include "data/source/record_listing.h"
#include "data/source/source.h"
#include "data/source/split.h"
#include "io/sha256.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kThing = "data.class_folders";

/// Path relative to the root; empty for the root itself.
std::string below(const fs::path& root, const fs::path& path) {
  const std::size_t begin = (root / "").native().size();
  return begin < path.native().size() ? path.native().substr(begin) : std::string();
}

/// Class and split that a folder's name states; `class_name` is empty for a split folder.
struct Place {
  std::string class_name;
  Split split = Split::None;
  friend bool operator==(const Place&, const Place&) = default;
};

/// Class and split of a folder below the root; nullopt for the root and for folders outside the data set.
std::optional<Place> place_of(const ClassLayout& layout, const std::string& path) {
  if (const auto number = layout.folder_of(path)) {
    return Place{.class_name = layout.folders[*number].name, .split = layout.folders[*number].split};
  }
  if (layout.is_beside(path)) return std::nullopt;
  return Place{.class_name = {}, .split = split_of_folder(path).value_or(Split::None)};
}

/// Throws DataError if a link makes a folder belong to two classes or two splits.
void check_apart(const ClassLayout& layout, const LeftOut& left_out, const SourceOptions& options) {
  for (const auto& [path, first] : left_out.repeated) {
    const std::string name = below(options.root, path), read = below(options.root, first);
    auto one = place_of(layout, name), other = place_of(layout, read);
    if (!one || !other) continue;
    if (!uses_given_splits(options.split)) one->split = other->split;
    if (one == other) continue;
    throw DataError(error_text(kThing, options.root.string(), "each folder to belong to one class and one split",
                               fmt::format("{} and {}, which are the same folder because of a link", name,
                                           read.empty() ? "the data folder" : read),
                               "removing the link, or --data with a folder without it"));
  }
}

/// Throws DataError or adds a note if links have no target, depending on the options.
void settle_dangling(const std::vector<std::string>& names, const SourceOptions& options, Listing& listing) {
  if (names.empty()) return;
  const std::string got = fmt::format("{} broken", names.size());
  if (options.absent == Absent::Refuse) {
    throw DataError(error_text(kThing, options.root.string(), "links whose targets exist",
                               fmt::format("{} ({})", got, first_names(names)),
                               "mounting the disk of the targets, or --set data.absent=skip to ignore these links"));
  }
  listing.notes.push_back("links left out: " + got);
}

/// A label and its class; nullopt if the folder has no such class.
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
      throw ConfigError(error_text("data.labels", label, "the name of a class folder",
                                   "a name other than " + first_names(names), "data.labels=[] for all class folders"));
    }
    labels.push_back({.name = label, .class_name = column ? std::optional(names[*column]) : std::nullopt});
  }
  return labels;
}

/// Throws DataError if folders seem to be splits of the data set instead of classes.
void check_no_parts(const ClassLayout& layout, const std::set<std::string>& classes, const SourceOptions& options) {
  const std::string expected = "one folder of images for each class";
  std::set<std::string_view> parts;
  std::vector<std::string> alike;
  for (const std::string& name : layout.has_splits() ? std::set<std::string>() : classes) {
    const std::string_view part = part_like(name);
    if (part.empty()) continue;
    parts.insert(part);
    alike.push_back(part == "fold" ? name : fmt::format("{} ({})", name, part));
  }
  const bool are_folds = parts.contains("fold") && alike.size() == classes.size();
  if (parts.size() > 1 || are_folds) {
    throw DataError(error_text(kThing, options.root.string(), expected,
                               "folders that look like splits: " + first_names(alike),
                               "renaming them to train, val and test, or --data with one of them"));
  }
  const CommonFolders common = common_folders(options.root, layout);
  if (common.names.empty()) return;
  const std::string got =
      fmt::format("the same folders {} in each of {}", first_names(common.names), first_names(common.holders));
  constexpr std::string_view kMove = "moving the images of each class directly into its folder";
  throw DataError(error_text(
      kThing, options.root.string(), expected, got,
      layout.has_splits()
          ? std::string(kMove)
          : fmt::format(
                "renaming the outer folders to train, val and test if they are splits, --data with one of them, or {}",
                kMove)));
}

void check_layout(const ClassLayout& layout, const std::set<std::string>& classes, const SourceOptions& options) {
  if (!options.csv.empty()) {
    throw ConfigError(error_text(kThing, "data.csv", "no data.csv, because the folder names are the labels",
                                 options.csv.front().string(), "--set data.source=csv"));
  }
  if (!layout.unclear.empty()) {
    throw DataError(error_text(kThing, options.root.string(),
                               "either split folders (train, val, test) or class folders",
                               fmt::format("the split folder {} next to other folders", layout.unclear),
                               "renaming it if it is a class, else moving the other folders away"));
  }
  if (classes.size() < 2) {
    throw DataError(error_text(kThing, options.root.string(), "at least two class folders",
                               fmt::format("{}", classes.size()),
                               "another --data (folders called masks or pairs do not count as classes)"));
  }
  check_no_parts(layout, classes, options);
}

/// Adds the images in class folders to a listing and counts all other images below the root.
class ClassImages {
 public:
  ClassImages(const ClassLayout& layout, const std::vector<Label>& labels, const SourceOptions& options)
      : layout_(layout), labels_(labels), options_(options), images_(layout.folders.size()) {
    for (const std::string& name : layout.beside) beside_[name] = 0;
  }

  /// Walks the data folder: class folders by name, then folders next to train, val and test.
  void read(Listing& listing) {
    FolderWalk walk(WalkOrder::FilesFirst, [&](const fs::path& path) {
      if (!has_image_extension(path)) return false;
      take(path, listing);
      return true;
    });
    std::set<fs::path> last;
    for (const std::string& name : layout_.beside) last.insert(options_.root / name);
    walk.walk_last(std::move(last));
    walk.walk(options_.root);
    for (std::size_t i = 0; i < images_.size(); ++i) {
      const ClassFolder& folder = layout_.folders[i];
      if (images_[i] == 0) listing.notes.push_back(fmt::format("folder {} has no image", folder.path.string()));
      if (folder.split != Split::None) listing.given_splits = "folders train, val, test";
    }
    settle_left_out(walk.left_out(), listing);
  }

 private:
  void take(const fs::path& path, Listing& listing) {
    const std::string name = below(options_.root, path);
    const auto number = layout_.folder_of(name);
    if (!number) {
      ++(layout_.is_beside(name) ? beside_[name.substr(0, name.find('/'))] : loose_);
      return;
    }
    const ClassFolder& folder = layout_.folders[*number];
    Sample sample{.id = name, .path = path, .patient = nih_patient(path.filename().string()), .split = folder.split};
    for (const Label& label : labels_) {
      sample.labels.push_back(!label.class_name ? std::nanf("") : *label.class_name == folder.name ? 1.0F : 0.0F);
    }
    if (const auto first = links_.add(path, listing.samples.size())) {
      listing.linked.emplace_back(name, listing.samples[*first].id);
    }
    ++images_[*number];
    listing.samples.push_back(std::move(sample));
  }

  /// Throws DataError or adds notes for files that are not images of a class, depending on the options.
  void settle_left_out(LeftOut left_out, Listing& listing) const {
    check_apart(layout_, left_out, options_);
    // Links next to train, val and test are ignored, because nothing there would be read.
    std::vector<fs::path> beside;
    std::vector<std::string> dangling;
    for (fs::path& path : left_out.dangling) {
      std::string name = below(options_.root, path);
      if (layout_.is_beside(name)) {
        beside.push_back(std::move(path));
      } else {
        dangling.push_back(std::move(name));
      }
    }
    settle_dangling(dangling, options_, listing);
    left_out.dangling = std::move(beside);
    listing.add_notes(left_out.notes("not images by their file extensions"));
    std::string text;
    listing.left_out_images += loose_;
    for (const auto& [name, images] : beside_) {
      listing.left_out_images += images;
      text += fmt::format("{}{} (image files: {})", text.empty() ? "" : ", ", name, images);
    }
    if (!text.empty()) listing.notes.push_back("folders next to train, val and test, left out: " + text);
    if (loose_ > 0) listing.notes.push_back(fmt::format("images in no class folder, left out: {}", loose_));
  }

  const ClassLayout& layout_;
  const std::vector<Label>& labels_;
  const SourceOptions& options_;
  LinkedFiles links_;
  /// Number of images in each of layout_.folders.
  std::vector<std::int64_t> images_;
  /// Number of images in each folder of layout_.beside.
  std::map<std::string, std::int64_t> beside_;
  /// Number of images in the root, or in train, val and test, outside any class folder.
  std::int64_t loose_ = 0;
};

}  // namespace

// True if images lie only directly in class folders. Other folder trees have label tables elsewhere.
bool probe_class_folders(const SourceOptions& options, TableFiles& /*tables*/) {
  if (!options.csv.empty()) return false;
  const ClassLayout layout = class_layout(options.root);
  const auto is_class = [&](const ClassFolder& folder) {
    return !folder.name.starts_with("images") && holds_images(options.root / folder.path);
  };
  return !layout.has_loose_images && layout.classes().size() >= 2 && std::ranges::all_of(layout.folders, is_class);
}

Listing list_class_folders(const SourceOptions& options, TableFiles& /*tables*/) {
  const ClassLayout layout = class_layout(options.root);
  const std::set<std::string> classes = layout.classes();
  check_layout(layout, classes, options);
  Listing listing;
  const std::vector<Label> labels = choose_labels(classes, options);
  for (const Label& label : labels) listing.label_names.push_back(label.name);
  check_distinct_findings(listing.label_names);
  ClassImages(layout, labels, options).read(listing);
  if (listing.samples.empty()) {
    throw DataError(error_text(kThing, options.root.string(), "images in the class folders", "none", "another --data"));
  }
  std::string table;
  for (const Sample& sample : listing.samples) table += sample.id + '\n';
  listing.csv = {options.root / "folders"};
  listing.csv_sha256 = {io::sha256_hex(table)};
  listing.notes.push_back(fmt::format("{} classes; no table, so the hash covers the image names", classes.size()));
  return listing;
}

}  // namespace roentgen::data
