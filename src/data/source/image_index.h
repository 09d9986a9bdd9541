// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Finds image files below a folder by base name, however the archives were unpacked.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace roentgen::data {

/// True for folders called masks, mask, pairs or pair in any case, as `roentgen synth` writes them. Their pictures
/// belong to images of the same name and are not part of the data set.
[[nodiscard]] bool is_companion_folder(std::string_view name);

/// True for __MACOSX, in any case: macOS adds this folder to archives. Its files have names of images but are no
/// images.
[[nodiscard]] bool is_archive_folder(std::string_view name);

/// Index of all regular files below some folders, by base name. Skips hidden files and folders, __MACOSX, and companion
/// folders that are not named themselves. Follows links to folders; visits each real folder once. Thread-safe to read.
class ImageIndex {
 public:
  /// Walks `folders` in the order given, entries of one folder in the order of their names. DataError when one is no
  /// readable folder.
  explicit ImageIndex(const std::vector<std::filesystem::path>& folders);

  /// The file of that name, or nullptr; the first one when there are several.
  [[nodiscard]] const std::filesystem::path* find(const std::string& name) const { return found_in(first_, name); }
  /// A second file of the same name, or nullptr.
  [[nodiscard]] const std::filesystem::path* second(const std::string& name) const { return found_in(second_, name); }
  /// A folder that has the name of an image, or nullptr.
  [[nodiscard]] const std::filesystem::path* folder(const std::string& name) const { return found_in(folders_, name); }
  /// Files whose extension is that of an image.
  [[nodiscard]] std::int64_t images() const { return images_; }

 private:
  using Paths = std::unordered_map<std::string, std::filesystem::path>;
  [[nodiscard]] static const std::filesystem::path* found_in(const Paths& paths, const std::string& name);

  Paths first_, second_, folders_;
  std::int64_t images_ = 0;
};

/// True for the extensions of images: png, jpg, jpeg, dcm, dicom, in any case.
[[nodiscard]] bool has_image_extension(const std::filesystem::path& path);

}  // namespace roentgen::data
