// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/folder_files.h"

#include <algorithm>
#include <iterator>
#include <system_error>

#include "core/error.h"
#include "data/source/folder_walk.h"
#include "data/source/image_index.h"
#include "data/source/table_fields.h"

namespace roentgen::data {

namespace fs = std::filesystem;

namespace {

/// True if the last folders of `path` equal those of `name`.
bool ends_in(const fs::path& path, const fs::path& name) {
  const fs::path folder = path.parent_path(), wanted = name.parent_path();
  const auto parts = std::distance(folder.begin(), folder.end()), needed = std::distance(wanted.begin(), wanted.end());
  return needed <= parts && std::equal(wanted.begin(), wanted.end(), std::next(folder.begin(), parts - needed));
}

}  // namespace

std::vector<fs::path> places_of(const std::string& name, const std::vector<fs::path>& folders) {
  std::string slashed = name;
  std::ranges::replace(slashed, '\\', '/');
  std::vector<fs::path> places;
  for (const fs::path& folder : folders) places.push_back(folder / name);
  for (const fs::path& folder : slashed == name ? std::vector<fs::path>() : folders) places.push_back(folder / slashed);
  return places;
}

const std::unordered_set<std::string>& FolderFiles::files_of(const fs::path& folder) {
  auto [position, is_new] = folders_.try_emplace(folder.string());
  for (const fs::directory_entry& entry : is_new ? sorted_entries(folder) : std::vector<fs::directory_entry>()) {
    std::error_code unreadable;
    if (entry.is_regular_file(unreadable)) position->second.insert(entry.path().filename().string());
  }
  return position->second;
}

std::optional<fs::path> FolderFiles::find(const std::vector<fs::path>& places) {
  for (const fs::path& place : places) {
    if (has(place)) return place;
  }
  for (const fs::path& place : places) {
    if (auto file = with_ending(place)) return file;
  }
  if (root_.empty()) return std::nullopt;
  return below_root(places.back().lexically_normal().lexically_relative(root_.lexically_normal()));
}

std::optional<fs::path> FolderFiles::below_root(const fs::path& name) {
  if (!below_) {
    below_.emplace();
    FolderWalk walk(WalkOrder::Mixed, [this](const fs::path& path) {
      (*below_)[path.filename().string()].push_back(path);
      if (has_image_extension(path)) (*below_)[path.stem().string()].push_back(path);
      return true;
    });
    walk.pass_unreadable();
    walk.walk(root_);
  }
  const auto found = below_->find(name.filename().string());
  if (found == below_->end()) return std::nullopt;
  Paths fitting;
  std::ranges::copy_if(found->second, std::back_inserter(fitting),
                       [&name](const fs::path& path) { return ends_in(path, name); });
  if (fitting.empty()) return std::nullopt;
  if (fitting.size() > 1) {
    std::vector<std::string> names;
    for (const fs::path& path : fitting) names.push_back(path.lexically_relative(root_).string());
    throw DataError(error_text("data.csv", name.string(), "one file of that name in the data folder",
                               first_names(names), "writing its folder in the table, too"));
  }
  ++without_folder_;
  return fitting.front();
}

bool FolderFiles::has(const fs::path& path) { return files_of(path.parent_path()).contains(path.filename().string()); }

std::optional<fs::path> FolderFiles::with_ending(const fs::path& path) {
  if (has_image_extension(path)) return std::nullopt;
  const fs::path folder = path.parent_path();
  const auto [position, is_new] = endings_.try_emplace(folder.string());
  if (is_new) {
    for (const std::string& file : files_of(folder)) {
      if (has_image_extension(file)) position->second[fs::path(file).stem().string()].push_back(file);
    }
  }
  const auto found = position->second.find(path.filename().string());
  if (found == position->second.end()) return std::nullopt;
  std::vector<std::string>& files = found->second;
  if (files.size() == 1) return folder / files.front();
  std::ranges::sort(files);
  throw DataError(error_text("data.csv", path.filename().string(), "one image file with this name before the extension",
                             first_names(files), "writing its extension in the table, too"));
}

}  // namespace roentgen::data
