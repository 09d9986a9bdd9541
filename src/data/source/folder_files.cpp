// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/folder_files.h"

#include <algorithm>
#include <system_error>

#include "core/error.h"
#include "data/source/folder_walk.h"
#include "data/source/image_index.h"
#include "data/source/table_fields.h"

namespace roentgen::data {

namespace fs = std::filesystem;

const std::unordered_set<std::string>& FolderFiles::files_of(const fs::path& folder) {
  auto [position, is_new] = folders_.try_emplace(folder.string());
  for (const fs::directory_entry& entry : is_new ? sorted_entries(folder) : std::vector<fs::directory_entry>()) {
    std::error_code unreadable;
    if (entry.is_regular_file(unreadable)) position->second.insert(entry.path().filename().string());
  }
  return position->second;
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
  throw DataError(error_text("data.csv", path.filename().string(), "one image file of that name", first_names(files),
                             "its ending in the table"));
}

}  // namespace roentgen::data
