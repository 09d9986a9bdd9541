// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Finds image files below a folder by base name, regardless of how archives were unpacked.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace roentgen::data {

/// True for folders called masks, mask, pairs or pair, ignoring case, as `roentgen synth` writes them. Their pictures
/// accompany images of the same name and are not part of the data set.
[[nodiscard]] bool is_companion_folder(std::string_view name);

/// True for __MACOSX, ignoring case: macOS adds this folder to archives. Its files have names of images but are not
/// images.
[[nodiscard]] bool is_archive_folder(std::string_view name);

/// Index of all regular files below some folders, by base name. Skips hidden files and folders, __MACOSX, and companion
/// folders unless they are listed explicitly. Follows links to folders; visits each real folder once. Thread-safe to
/// read.
class ImageIndex {
 public:
  /// Walks `folders` in the given order, and the entries of each folder sorted by name. Throws DataError if one of
  /// `folders` is not a readable folder.
  explicit ImageIndex(const std::vector<std::filesystem::path>& folders);

  /// Returns the file with this name, or nullptr; the first one if there are several.
  [[nodiscard]] const std::filesystem::path* find(const std::string& name) const { return found_in(first_, name); }
  /// Returns the second file with this name, or nullptr.
  [[nodiscard]] const std::filesystem::path* second(const std::string& name) const { return found_in(second_, name); }
  /// Returns a folder with this name, which has an image extension, or nullptr.
  [[nodiscard]] const std::filesystem::path* folder(const std::string& name) const { return found_in(folders_, name); }
  /// Number of files with an image extension.
  [[nodiscard]] std::int64_t images() const { return images_; }

 private:
  using Paths = std::unordered_map<std::string, std::filesystem::path>;
  [[nodiscard]] static const std::filesystem::path* found_in(const Paths& paths, const std::string& name);

  Paths first_, second_, folders_;
  std::int64_t images_ = 0;
};

/// True if the extension is that of an image: png, jpg, jpeg, dcm or dicom, ignoring case.
[[nodiscard]] bool has_image_extension(const std::filesystem::path& path);

}  // namespace roentgen::data
