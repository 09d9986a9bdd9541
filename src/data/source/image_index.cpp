// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/image_index.h"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/lower_case.h"

namespace roentgen::data {

namespace fs = std::filesystem;

bool has_image_extension(const fs::path& path) {
  const std::string extension = lower_case(path.extension().string());
  constexpr std::array<std::string_view, 5> kExtensions{".png", ".jpg", ".jpeg", ".dcm", ".dicom"};
  return std::find(kExtensions.begin(), kExtensions.end(), extension) != kExtensions.end();
}

bool is_companion_folder(std::string_view name) {
  constexpr std::array<std::string_view, 4> kNames{"masks", "mask", "pairs", "pair"};
  return std::ranges::find(kNames, lower_case(name)) != kNames.end();
}

bool is_archive_folder(std::string_view name) { return lower_case(name) == "__macosx"; }

ImageIndex::ImageIndex(const std::vector<fs::path>& folders) {
  std::set<std::string> visited;
  for (const auto& folder : folders) walk(folder, visited);
}

const fs::path* ImageIndex::find(const std::string& name) const {
  const auto found = first_.find(name);
  return found == first_.end() ? nullptr : &found->second;
}

const fs::path* ImageIndex::second(const std::string& name) const {
  const auto found = second_.find(name);
  return found == second_.end() ? nullptr : &found->second;
}

const fs::path* ImageIndex::folder(const std::string& name) const {
  const auto found = folders_.find(name);
  return found == folders_.end() ? nullptr : &found->second;
}

void ImageIndex::walk(const fs::path& folder, std::set<std::string>& visited) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error || !fs::is_directory(real)) {
    throw DataError(error_text("data.source", folder.string(), "a folder of images",
                               error ? error.message() : std::string("a file"), "--set data.images=FOLDER"));
  }
  if (!visited.insert(real.string()).second) return;

  std::vector<std::pair<std::string, bool>> entries;  // base name, is a folder
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    if (name.empty() || name.front() == '.') continue;
    std::error_code unreadable;
    if (it->is_directory(unreadable)) {
      entries.emplace_back(std::move(name), true);
    } else if (it->is_regular_file(unreadable)) {
      entries.emplace_back(std::move(name), false);
    }
  }
  if (error)
    throw DataError(
        error_text("data.source", folder.string(), "a readable folder", error.message(), "other permissions there"));
  std::sort(entries.begin(), entries.end());
  for (auto& [name, is_folder] : entries) {
    if (is_folder) {
      if (is_companion_folder(name) || is_archive_folder(name)) continue;
      if (has_image_extension(name)) folders_.try_emplace(name, folder / name);
      walk(folder / name, visited);
      continue;
    }
    if (has_image_extension(name)) ++images_;
    const auto [position, is_new] = first_.try_emplace(name, folder / name);
    if (!is_new) second_.try_emplace(name, folder / name);
  }
}

}  // namespace roentgen::data
