// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/class_layout.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "data/source/finding_names.h"
#include "data/source/folder_walk.h"
#include "data/source/image_index.h"
#include "data/source/split.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

/// Subfolders that may be classes or splits, by name, and whether images lie next to them.
struct Entries {
  std::vector<std::string> folders;
  bool has_images = false;
};

Entries entries_of(const fs::path& folder) {
  Entries entries;
  std::error_code error;
  for (const fs::directory_entry& entry : sorted_entries(folder, error)) {
    std::string name = entry.path().filename().string();
    if (name.starts_with('.')) continue;
    std::error_code unreadable;
    if (entry.is_directory(unreadable)) {
      if (!is_companion_folder(name) && !is_archive_folder(name)) entries.folders.push_back(std::move(name));
    } else if (entry.is_regular_file(unreadable) && has_image_extension(name)) {
      entries.has_images = true;
    }
  }
  if (error) {
    throw DataError(error_text("data.class_folders", folder.string(), "a readable folder", error.message(),
                               "changing its permissions"));
  }
  return entries;
}

/// Words of a name in lower case. A name is split at characters other than letters, and before capitals.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  bool was_small = false;
  for (const char letter : name) {
    const auto c = static_cast<unsigned char>(letter);
    const bool is_letter = std::isalpha(c) != 0;
    if (!words.back().empty() && (!is_letter || (was_small && std::isupper(c) != 0))) words.emplace_back();
    if (is_letter) words.back() += static_cast<char>(std::tolower(c));
    was_small = std::islower(c) != 0;
  }
  return words;
}

/// Split that a word means, such as "train" for "training" and "trainset"; empty for other words.
std::string_view part_of_word(std::string_view word) {
  constexpr std::array<std::string_view, 8> kEnds{"dataset", "data",  "images", "imgs",
                                                  "folder",  "split", "sets",   "set"};
  constexpr std::array<std::pair<std::string_view, std::string_view>, 22> kParts{
      {{"train", "train"}, {"training", "train"}, {"trains", "train"},   {"trn", "train"},    {"tr", "train"},
       {"val", "val"},     {"vals", "val"},       {"valid", "val"},      {"validate", "val"}, {"validation", "val"},
       {"dev", "val"},     {"eval", "val"},       {"evaluation", "val"}, {"test", "test"},    {"testing", "test"},
       {"tests", "test"},  {"tst", "test"},       {"te", "test"},        {"ts", "test"},      {"holdout", "test"},
       {"fold", "fold"},   {"kfold", "fold"}}};
  const auto* const end = std::ranges::find_if(
      kEnds, [word](std::string_view ending) { return word.size() > ending.size() && word.ends_with(ending); });
  if (end != kEnds.end()) word.remove_suffix(end->size());
  const auto* const found = std::ranges::find(kParts, word, &std::pair<std::string_view, std::string_view>::first);
  return found == kParts.end() ? std::string_view() : found->second;
}

}  // namespace

std::optional<Split> split_of_folder(std::string_view name) {
  const auto split = find_split(spelling_key(name));
  return split == Split::None ? std::nullopt : split;
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

std::string_view part_like(std::string_view name) {
  for (const std::string& word : words_of(name)) {
    if (const std::string_view part = part_of_word(word); !part.empty()) return part;
  }
  return {};
}

std::set<std::string_view> parts_like(std::string_view name) {
  std::set<std::string_view> parts;
  for (const std::string& word : words_of(name)) {
    if (const std::string_view part = part_of_word(word); !part.empty()) parts.insert(part);
  }
  return parts;
}

CommonFolders common_folders(const fs::path& root, const ClassLayout& layout) {
  CommonFolders common;
  std::set<std::string> first;
  for (const ClassFolder& folder : layout.folders) {
    Entries entries = entries_of(root / folder.path);
    if (entries.has_images) return {};
    if (entries.folders.empty()) continue;
    std::set<std::string> keys;
    for (const std::string& name : entries.folders) keys.insert(spelling_key(name));
    if (common.holders.empty()) {
      first = std::move(keys);
      common.names = std::move(entries.folders);
    } else if (keys != first) {
      return {};
    }
    common.holders.push_back(folder.path.string());
  }
  return common.holders.size() > 1 && first.size() > 1 ? common : CommonFolders();
}

bool holds_images(const fs::path& folder) { return entries_of(folder).has_images; }

void ClassLayout::add(ClassFolder folder) {
  numbers.emplace(folder.path.string(), folders.size());
  folders.push_back(std::move(folder));
}

std::optional<std::size_t> ClassLayout::folder_of(std::string_view path) const {
  std::size_t end = path.find('/');
  if (has_splits() && end != std::string_view::npos) end = path.find('/', end + 1);
  const auto found = numbers.find(path.substr(0, end));
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

bool ClassLayout::has_splits() const { return !folders.empty() && folders.front().path.has_parent_path(); }

bool ClassLayout::is_beside(std::string_view path) const { return beside.contains(path.substr(0, path.find('/'))); }

std::set<std::string> ClassLayout::classes() const {
  std::set<std::string> names;
  for (const ClassFolder& folder : folders) names.insert(folder.name);
  return names;
}

}  // namespace roentgen::data
