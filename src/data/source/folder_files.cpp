// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/folder_files.h"

#include <algorithm>
#include <cctype>
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

/// Number of trailing folders that two paths share.
std::int64_t shared_folders(const fs::path& path, const fs::path& other) {
  const fs::path folder = path.parent_path(), wanted = other.parent_path();
  auto a = folder.end(), b = wanted.end();
  std::int64_t shared = 0;
  while (a != folder.begin() && b != wanted.begin() && *--a == *--b) ++shared;
  return shared;
}

/// True for a path that begins with a drive, such as "D:/study/x.png".
bool has_drive(const fs::path& path) {
  const std::string first = path.empty() ? std::string() : path.begin()->string();
  return first.size() == 2 && first[1] == ':' && std::isalpha(static_cast<unsigned char>(first[0])) != 0;
}

[[noreturn]] void refuse_several(const fs::path& name, const std::vector<fs::path>& files, const fs::path& root) {
  std::vector<std::string> names;
  for (const fs::path& path : files) names.push_back(path.lexically_relative(root).string());
  std::ranges::sort(names);
  throw DataError(error_text("data.csv", name.string(), "one file of that name in the data folder", first_names(names),
                             "writing its folder in the table, too"));
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
  const fs::path last = places.back().lexically_normal();
  const fs::path name = last.lexically_relative(root_.lexically_normal());
  const bool is_outside = name.empty() || *name.begin() == "..";
  const bool goes_up = std::ranges::find(places.back(), fs::path("..")) != places.back().end();
  if (has_drive(name) || (last.is_absolute() && is_outside && !goes_up)) return from_elsewhere(last);
  return below_root(name);
}

const FolderFiles::Paths& FolderFiles::named_below_root(const std::string& name) {
  static const Paths kNone;
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
  const auto found = below_->find(name);
  return found == below_->end() ? kNone : found->second;
}

std::optional<fs::path> FolderFiles::below_root(const fs::path& name) {
  Paths fitting;
  std::ranges::copy_if(named_below_root(name.filename().string()), std::back_inserter(fitting),
                       [&name](const fs::path& path) { return ends_in(path, name); });
  if (fitting.empty()) return std::nullopt;
  if (fitting.size() > 1) refuse_several(name, fitting, root_);
  ++without_folder_;
  return fitting.front();
}

std::optional<fs::path> FolderFiles::from_elsewhere(const fs::path& path) {
  Paths fitting;
  std::int64_t most = 0;
  for (const fs::path& file : named_below_root(path.filename().string())) {
    const std::int64_t shared = shared_folders(file, path);
    if (shared > most) fitting.clear();
    if (shared >= most) fitting.push_back(file);
    most = std::max(most, shared);
  }
  if (fitting.empty()) return std::nullopt;
  if (fitting.size() > 1) refuse_several(path, fitting, root_);
  ++moved_;
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
