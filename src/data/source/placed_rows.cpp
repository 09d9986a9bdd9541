// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/placed_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <system_error>
#include <unordered_map>
#include <vector>

#include "core/error.h"
#include "data/source/folder_walk.h"
#include "data/source/image_index.h"

namespace roentgen::data {

namespace fs = std::filesystem;

void PlacedRows::add(Sample sample, const std::vector<fs::path>& places, std::string_view where,
                     const ReadLabels& read_labels) {
  ++rows_;
  const std::optional<fs::path> found = options_.files == ImageFiles::Unneeded ? places.front() : files_.find(places);
  sample.path = found.value_or(places.back());
  const std::optional<std::size_t> number = found ? std::optional(listing_.samples.size()) : std::nullopt;
  const auto [id, is_new_id] = ids_.try_emplace(fs::path(sample.id).lexically_normal().string(), number);
  const auto [path, is_new_path] = paths_.try_emplace(sample.path.lexically_normal().string(), number);
  if (!is_new_id || !is_new_path) {
    const std::optional<std::size_t>& first = is_new_id ? path->second : id->second;
    repeats_.add(options_.files == ImageFiles::Needed ? sample.id : std::string(where),
                 first && are_contradictory(listing_.samples[*first].labels, read_labels()));
    return;
  }
  if (found) {
    sample.labels = read_labels();
    listing_.samples.push_back(std::move(sample));
    return;
  }
  // Options can allow absent images. A folder at the path of an image is always an error in the table.
  std::error_code ignored;
  if (fs::is_directory(sample.path, ignored)) {
    throw DataError(error_text("data.csv", std::string(where) + ": " + sample.path.string(), "an image file",
                               "a folder", "the path of an image in this folder"));
  }
  absent_.push_back(sample.id);
}

void PlacedRows::pass_over(const std::vector<fs::path>& places) {
  for (const fs::path& place : places) passed_over_.insert(place.lexically_normal().string());
}

void PlacedRows::settle() {
  settle_repeated(repeats_, options_, listing_);
  settle_absent(absent_, rows_, options_, listing_);
  if (files_.without_folder() > 0) {
    listing_.notes.push_back(fmt::format("rows with an image name without its folder: {}", files_.without_folder()));
  }
  if (files_.moved() > 0) {
    listing_.notes.push_back(
        fmt::format("rows with an absolute path that does not exist here, found in the data folder by the end of the "
                    "path: {}",
                    files_.moved()));
  }
  if (options_.files == ImageFiles::Needed) note_unnamed();
}

namespace {

/// Resolves links to folders in paths, so that each file has one path. Resolves each folder once, and leaves file names
/// unresolved.
class RealPaths {
 public:
  const fs::path& folder(const fs::path& path) {
    const auto [position, is_new] = folders_.try_emplace(path.string());
    if (is_new) {
      std::error_code error;
      position->second = fs::canonical(path, error);
      if (error) position->second = path;
    }
    return position->second;
  }
  std::string file(const fs::path& path) { return (folder(path.parent_path()) / path.filename()).string(); }

 private:
  std::unordered_map<std::string, fs::path> folders_;
};

bool is_below(const fs::path& path, const fs::path& folder) {
  return std::ranges::mismatch(folder, path).in1 == folder.end();
}

}  // namespace

void PlacedRows::note_unnamed() {
  RealPaths real;
  std::unordered_set<std::string> named, walked;
  for (const auto& [path, number] : paths_) named.insert(real.file(path));
  for (const std::string& path : passed_over_) named.insert(real.file(path));
  const auto is_unnamed = [&](const fs::path& path) { return !named.contains(real.file(path)); };
  struct Images {
    std::int64_t named = 0, unnamed = 0;
  };
  std::map<std::string, Images> folders;  // by folder directly below the data folder
  std::int64_t unnamed = 0;
  FolderWalk walk(WalkOrder::Mixed, [&](const fs::path& path) {
    walked.insert(real.folder(path.parent_path()).string());
    if (!has_image_extension(path)) return true;
    const bool is_missed = is_unnamed(path);
    unnamed += is_missed ? 1 : 0;
    const fs::path below = path.lexically_relative(options_.root);
    if (!below.has_parent_path()) return true;
    Images& images = folders[below.begin()->string()];
    ++(is_missed ? images.unnamed : images.named);
    return true;
  });
  walk.pass_unreadable();
  walk.count_left_out(is_unnamed);
  walk.walk(options_.root);
  // Rows may name files in folders outside the data folder.
  for (const auto& [name, files] : files_.folders()) {
    const fs::path folder = real.folder(name);
    if (is_below(folder, real.folder(options_.root)) || !walked.insert(folder.string()).second) continue;
    unnamed += std::ranges::count_if(files, [&](const std::string& file) {
      return !file.starts_with('.') && has_image_extension(file) && !named.contains((folder / file).string());
    });
  }
  std::vector<std::string> others;
  for (const auto& [name, images] : folders) {
    if (images.named == 0) others.push_back(fmt::format("{} ({})", name, images.unnamed));
  }
  listing_.left_out_images += unnamed;
  if (unnamed > 0) listing_.notes.push_back(fmt::format("image files that are not in the table: {}", unnamed));
  if (!others.empty()) {
    listing_.notes.push_back("folders of images that are not in the table: " + first_names(others));
  }
  const LeftOut& left_out = walk.left_out();
  const LeftOut told{.companions = left_out.companion_images > 0 ? left_out.companions : 0,
                     .companion_images = left_out.companion_images,
                     .hidden = left_out.hidden,
                     .unreadable = left_out.unreadable};
  listing_.add_notes(told.notes(""));
}

}  // namespace roentgen::data
