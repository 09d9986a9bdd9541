// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/class_layout.h"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "data/source/finding_names.h"
#include "data/source/image_index.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

/// Folders in a folder that may be classes or splits, by name, and whether images lie beside them.
struct Entries {
  std::vector<std::string> folders;
  bool has_images = false;
};

Entries entries_of(const fs::path& folder) {
  Entries entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename().string();
    if (name.starts_with('.')) continue;
    std::error_code unreadable;
    if (at->is_directory(unreadable)) {
      if (!is_companion_folder(name) && !is_archive_folder(name)) entries.folders.push_back(std::move(name));
    } else if (at->is_regular_file(unreadable) && has_image_extension(name)) {
      entries.has_images = true;
    }
  }
  if (error) {
    throw DataError(error_text("data.class_folders", folder.string(), "a readable folder", error.message(),
                               "other permissions there"));
  }
  std::ranges::sort(entries.folders);
  return entries;
}

}  // namespace

std::optional<Split> split_of_folder(std::string_view name) {
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

ClassLayout class_layout(const fs::path& root) {
  const Entries top = entries_of(root);
  ClassLayout layout{.has_loose_images = top.has_images};
  std::vector<std::string> splits, others;
  for (const std::string& name : top.folders) (split_of_folder(name) ? splits : others).push_back(name);
  if (splits.size() == 1 && !others.empty()) {
    const Entries only = entries_of(root / splits.front());
    if (!only.has_images && !only.folders.empty()) layout.unclear = splits.front();
  }
  if (splits.size() < 2 && !others.empty()) {
    for (const std::string& name : top.folders) layout.add({.path = name, .name = name});
    return layout;
  }
  layout.beside.insert(others.begin(), others.end());
  for (const std::string& name : splits) {
    for (const std::string& folder : entries_of(root / name).folders) {
      layout.add({.path = fs::path(name) / folder, .name = folder, .split = *split_of_folder(name)});
    }
  }
  return layout;
}

bool holds_images(const fs::path& folder) { return entries_of(folder).has_images; }

void ClassLayout::add(ClassFolder folder) {
  numbers.emplace(folder.path.string(), folders.size());
  folders.push_back(std::move(folder));
}

std::optional<std::size_t> ClassLayout::folder_of(std::string_view path) const {
  const bool has_splits = !folders.empty() && folders.front().path.has_parent_path();
  std::size_t end = path.find('/');
  if (has_splits && end != std::string_view::npos) end = path.find('/', end + 1);
  const auto found = numbers.find(path.substr(0, end));
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

bool ClassLayout::is_beside(std::string_view path) const { return beside.contains(path.substr(0, path.find('/'))); }

std::set<std::string> ClassLayout::classes() const {
  std::set<std::string> names;
  for (const ClassFolder& folder : folders) names.insert(folder.name);
  return names;
}

}  // namespace roentgen::data
