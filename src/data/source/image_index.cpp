// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/image_index.h"

#include <algorithm>
#include <array>
#include <system_error>

#include "core/error.h"
#include "core/lower_case.h"
#include "data/source/folder_walk.h"

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
  FolderWalk walk(WalkOrder::Mixed, [this](const fs::path& path) {
    const std::string name = path.filename().string();
    if (has_image_extension(path)) ++images_;
    if (!first_.try_emplace(name, path).second) second_.try_emplace(name, path);
    return true;
  });
  for (const fs::path& folder : folders) {
    std::error_code error;
    if (!fs::is_directory(folder, error)) {
      throw DataError(error_text("data.source", folder.string(), "a folder of images",
                                 error ? error.message() : std::string("a file"),
                                 "--set data.images=FOLDER with another folder"));
    }
    walk.walk(folder);
  }
  for (const fs::path& folder : walk.left_out().image_folders) {
    folders_.try_emplace(folder.filename().string(), folder);
  }
}

const fs::path* ImageIndex::found_in(const Paths& paths, const std::string& name) {
  const auto found = paths.find(name);
  return found == paths.end() ? nullptr : &found->second;
}

}  // namespace roentgen::data
