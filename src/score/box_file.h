// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads true bounding boxes of findings from NIH's BBox_List_2017.csv or a file of the same form, as `roentgen synth`
// writes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "eval/localisation.h"

namespace roentgen::score {

/// Bounding boxes from a file, grouped by image, for the labels of a model.
class BoxFile {
 public:
  /// Reads boxes from a csv file. Columns: Image Index (or image, path, file), Finding Label (or label, finding) and
  /// four numbers x, y, w, h. NIH's header names the four numbers "Bbox [x,y,w,h]". Boxes of labels that are not in
  /// `labels` are only counted. Throws DataError naming file and line, never an image.
  /// @param grid_px side of the square grid, stretched over the image, that coordinates refer to; 0: pixels of the
  ///     image. NIH's boxes use a grid of 1024 x 1024.
  BoxFile(const std::filesystem::path& path, const std::vector<std::string>& labels, std::int64_t grid_px);

  /// True if the image (by base name) has a box.
  [[nodiscard]] bool has(std::string_view image) const { return find(image) != nullptr; }
  /// Returns the indices of the labels that have a box in the image, ascending.
  [[nodiscard]] std::vector<std::size_t> labels_of(std::string_view image) const;
  /// Returns the boxes of a label in the image, in pixels of a picture of the given size.
  [[nodiscard]] std::vector<eval::Box> boxes_of(std::string_view image, std::size_t label, std::int64_t width_px,
                                                std::int64_t height_px) const;
  /// Number of boxes in the file, of all labels.
  [[nodiscard]] std::int64_t count() const { return count_; }
  /// Number of boxes whose label the model does not have.
  [[nodiscard]] std::int64_t other_labels() const { return other_labels_; }

 private:
  struct LabelBox {
    std::size_t label = 0;
    eval::Box box;
  };
  [[nodiscard]] const std::vector<LabelBox>* find(std::string_view image) const;

  std::int64_t grid_px_;
  std::int64_t count_ = 0;
  std::int64_t other_labels_ = 0;
  std::unordered_map<std::string, std::vector<LabelBox>> by_image_;
};

}  // namespace roentgen::score
