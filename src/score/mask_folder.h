// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Exact pixels of findings: the masks/ folder that `roentgen synth --masks` writes, or one of the same form.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "data/codec/codec.h"
#include "data/image.h"
#include "data/stage/file_reader.h"
#include "eval/localisation.h"

namespace roentgen::score {

/// Masks in `folder/Finding/image.png`. One thread.
class MaskFolder {
 public:
  /// Folders of findings that are not among `labels` are left out. DataError when `path` is no folder or has a folder
  /// of none of the labels.
  MaskFolder(const std::filesystem::path& path, const std::vector<std::string>& labels);

  /// Whether an image (by base name, whatever its suffix) has a mask file.
  [[nodiscard]] bool has(std::string_view image) const { return !labels_of(image).empty(); }
  /// Labels (indices) with a mask file of that image, ascending.
  [[nodiscard]] std::vector<std::size_t> labels_of(std::string_view image) const;
  /// Reads the mask of a label for an image: a gray picture of the given size. Pixels of half of white or more are
  /// inside. Returns nullopt when there is no file, or no pixel inside. Throws DataError when it cannot be read or has
  /// another size; names the folder, never an image.
  [[nodiscard]] std::optional<eval::Mask> read(std::string_view image, std::size_t label, std::int64_t width_px,
                                               std::int64_t height_px);

 private:
  [[nodiscard]] std::filesystem::path file_of(std::string_view image, const std::filesystem::path& folder) const;

  /// Label and its folder, ascending by label.
  std::vector<std::pair<std::size_t, std::filesystem::path>> folders_;
  data::FileReader reader_;
  data::Decoder decoder_;
  data::Image image_;
};

}  // namespace roentgen::score
