// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Scores how well a heat-map locates a finding: pointing game and overlap with boxes, each with its expected value for
// a random position.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/value.h"
#include "eval/heatmap.h"

namespace roentgen::eval {

/// Rectangle in pixels of the original picture: [x, x + width] by [y, y + height], from the top left corner.
struct Box {
  double x = 0.0;       ///< left edge, px
  double y = 0.0;       ///< upper edge, px
  double width = 0.0;   ///< width, px
  double height = 0.0;  ///< height, px
};

/// Thresholds of intersection over union (IoU) from which a box counts as found.
inline constexpr std::array kIouThresholds{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7};
/// Threshold of heat_box(): 0 is the smallest value of the map, 1 its largest value.
inline constexpr double kHeatShare = 0.5;

/// Area of the intersection divided by the area of the union; 0 for empty boxes.
[[nodiscard]] double intersection_over_union(const Box& a, const Box& b);

/// Returns the score of the pointing game (Zhang et al. 2018), without tolerance. It is 1 if the middle of the map's
/// peak pixel lies in a box, else 0. With several peaks, the share of peaks in a box, so that a constant map scores
/// like chance.
[[nodiscard]] double pointing_hit(const HeatMap& map, std::span<const Box> boxes);
/// Returns the expected pointing score of a random pixel: the share of pixels in the boxes, among the pixels that are
/// not NaN.
[[nodiscard]] double pointing_chance(const HeatMap& map, std::span<const Box> boxes);

/// Mask of a finding: which pixels of a picture belong to it.
struct Mask {
  std::int64_t width_px = 0;   ///< number of columns
  std::int64_t height_px = 0;  ///< number of rows
  /// (height_px, width_px) row-major
  std::vector<bool> is_inside;
};

/// Returns the score of the pointing game with a mask: the share of the map's peaks inside the mask. Map and mask must
/// have the same size.
[[nodiscard]] double pointing_hit(const HeatMap& map, const Mask& mask);
/// Returns the expected pointing score of a random pixel: the share of pixels inside the mask, among the pixels that
/// are not NaN.
[[nodiscard]] double pointing_chance(const HeatMap& map, const Mask& mask);

/// Returns the bounding box of the hottest region. The region consists of pixels at or above low + kHeatShare * (high -
/// low) that are connected (by their sides) to the first peak. For a constant map, the bounding box of all pixels that
/// are not NaN.
[[nodiscard]] Box heat_box(const HeatMap& map);

/// Returns for each of kIouThresholds the exact probability that a randomly placed box of the size of `found` reaches
/// this IoU with one of `boxes`. Counts all whole-pixel positions in the picture.
[[nodiscard]] std::array<double, kIouThresholds.size()> iou_chances(const Box& found, std::span<const Box> boxes,
                                                                    std::int64_t width_px, std::int64_t height_px);

/// Sums of localisation scores over the maps of one label, or of all labels. A map belongs to one image and one label
/// that has at least one box, or a mask.
struct LocalisationRow {
  std::string label;             ///< name of the label; "all" for the sum over labels
  std::int64_t maps = 0;         ///< number of maps with boxes
  double pointing = 0.0;         ///< sum of pointing_hit()
  double pointing_chance = 0.0;  ///< sum of pointing_chance()
  /// For each of kIouThresholds, number of maps whose heat_box() reaches this IoU.
  std::array<double, kIouThresholds.size()> found{};
  std::array<double, kIouThresholds.size()> found_by_chance{};  ///< sums of iou_chances()
  /// Number of maps with a mask.
  std::int64_t masks = 0;
  double mask_pointing = 0.0;  ///< sum of pointing_hit() on masks
  double mask_chance = 0.0;    ///< sum of pointing_chance() on masks

  /// Adds one map. `boxes` (at least one) are all boxes of this image and label; the best match counts.
  void add(const HeatMap& map, std::span<const Box> boxes);
  /// Adds the pointing game of one map with a mask, which must contain at least one pixel.
  void add(const HeatMap& map, const Mask& mask);
};

/// Returns a text table by label and over all maps. It shows pointing game and accuracy at some IoU thresholds, with
/// the expected value by chance in brackets. Columns of boxes and of masks appear only if there are any. Labels without
/// maps are omitted. Returns "" if there is no map.
[[nodiscard]] std::string to_text(std::span<const LocalisationRow> rows);

/// {"heat_share", "iou_thresholds", "labels": {label: {"maps", "pointing", "pointing_chance", "accuracy": [per
/// threshold], "accuracy_chance", "masks", "mask_pointing", "mask_pointing_chance"}}, "all": the same over all maps};
/// means, not sums. Keys of boxes are omitted if there is no box, keys of masks if there is no mask.
[[nodiscard]] Value to_value(std::span<const LocalisationRow> rows);

}  // namespace roentgen::eval
