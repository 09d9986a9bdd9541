// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads masks with the exact pixels of findings, from the folder masks/ of `roentgen synth --masks` or a folder of the
// same form.
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

/// Masks of findings in files `folder/Finding/image.png`. Not thread-safe.
class MaskFolder {
 public:
  /// Finds the mask files of the findings among `labels`; ignores folders of other findings. Throws DataError if `path`
  /// is not a folder or has no folder of any of the labels.
  MaskFolder(const std::filesystem::path& path, const std::vector<std::string>& labels);

  /// True if the image (by base name without suffix) has a mask file.
  [[nodiscard]] bool has(std::string_view image) const { return !labels_of(image).empty(); }
  /// Returns the indices of the labels that have a mask file for the image, ascending.
  [[nodiscard]] std::vector<std::size_t> labels_of(std::string_view image) const;
  /// Reads the mask of a label for an image: a gray picture of the given size. Pixels with at least half of the white
  /// value are inside. Returns nullopt if there is no file, or no pixel inside. Throws DataError if the file cannot be
  /// read or has another size; the error names the folder, never an image.
  [[nodiscard]] std::optional<eval::Mask> read(std::string_view image, std::size_t label, std::int64_t width_px,
                                               std::int64_t height_px);

 private:
  [[nodiscard]] std::filesystem::path file_of(std::string_view image, const std::filesystem::path& folder) const;

  /// Indices of labels and their mask folders, ascending by label.
  std::vector<std::pair<std::size_t, std::filesystem::path>> folders_;
  data::FileReader reader_;
  data::Decoder decoder_;
  data::Image image_;
};

}  // namespace roentgen::score
