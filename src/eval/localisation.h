// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Does a heat-map point at the finding? Pointing game and overlap with boxes, each beside what chance would give.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/value.h"
#include "eval/heatmap.h"

namespace roentgen::eval {

/// A rectangle in pixels of the original picture: [x, x + width] by [y, y + height], from the top left corner.
struct Box {
  double x = 0.0;       ///< left edge, px
  double y = 0.0;       ///< upper edge, px
  double width = 0.0;   ///< extent, px
  double height = 0.0;  ///< extent, px
};

/// Overlaps that a box must reach to count as found.
inline constexpr std::array kIouThresholds{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7};
/// heat_box() is around what lies at or above this share of the way from the map's lowest to its highest value.
inline constexpr double kHeatShare = 0.5;

/// Area of the intersection over that of the union; 0 for empty boxes.
[[nodiscard]] double intersection_over_union(const Box& a, const Box& b);

/// Pointing game (Zhang et al. 2018), without tolerance. 1 when the middle of the map's peak pixel lies in one of the
/// boxes. With several peaks the share of them that does, so that a flat map scores like chance.
[[nodiscard]] double pointing_hit(const HeatMap& map, std::span<const Box> boxes);
/// Pointing score of a pixel drawn at random among those the network saw: their share inside the boxes.
[[nodiscard]] double pointing_chance(const HeatMap& map, std::span<const Box> boxes);

/// The exact pixels of a finding in a picture.
struct Mask {
  std::int64_t width_px = 0;   ///< columns
  std::int64_t height_px = 0;  ///< rows
  /// (height_px, width_px) row-major
  std::vector<bool> is_inside;
};

/// Pointing game on exact pixels: the share of the map's peaks inside the mask, which has the map's size.
[[nodiscard]] double pointing_hit(const HeatMap& map, const Mask& mask);
/// Pointing score of a pixel drawn at random among those the network saw: their share inside the mask.
[[nodiscard]] double pointing_chance(const HeatMap& map, const Mask& mask);

/// The box around the hottest part. Of the pixels at or above low + kHeatShare * (high - low), these are the ones
/// connected (by their sides) to the first peak. For a flat map, the box around everything that the network saw.
[[nodiscard]] Box heat_box(const HeatMap& map);

/// Exact chance of an overlap, for each of kIouThresholds. It is the share of whole-pixel positions in the picture at
/// which a box as large as `found` reaches that overlap with one of `boxes`.
[[nodiscard]] std::array<double, kIouThresholds.size()> iou_chances(const Box& found, std::span<const Box> boxes,
                                                                    std::int64_t width_px, std::int64_t height_px);

/// Sums over the maps of one label, or of all. A map is one image and one label with at least one box, or a mask.
struct LocalisationRow {
  std::string label;             ///< name; of all maps together "all"
  std::int64_t maps = 0;         ///< maps with boxes
  double pointing = 0.0;         ///< sum of pointing_hit()
  double pointing_chance = 0.0;  ///< sum of pointing_chance()
  /// Maps whose box reaches the overlap, by kIouThresholds.
  std::array<double, kIouThresholds.size()> found{};
  std::array<double, kIouThresholds.size()> found_by_chance{};  ///< sums of iou_chances()
  /// Number of maps with a mask.
  std::int64_t masks = 0;
  double mask_pointing = 0.0;  ///< sum of pointing_hit() on masks
  double mask_chance = 0.0;    ///< sum of pointing_chance() on masks

  /// Adds one map; `boxes`, at least one, are all those of the image and label: the best of them counts.
  void add(const HeatMap& map, std::span<const Box> boxes);
  /// Adds one map's pointing game on exact pixels, at least one of them inside.
  void add(const HeatMap& map, const Mask& mask);
};

/// Table for people: per label and over all maps, the pointing game and the accuracy at some overlaps, with chance in
/// brackets. Columns of boxes and of masks appear only where there are any. Labels without maps are left out; "" when
/// none is left.
[[nodiscard]] std::string to_text(std::span<const LocalisationRow> rows);

/// {"heat_share", "iou_thresholds", "labels": {label: {"maps", "pointing", "pointing_chance", "accuracy":
/// [per threshold], "accuracy_chance", "masks", "mask_pointing", "mask_pointing_chance"}}, "all": the same over all
/// maps}; means, not sums. Keys of boxes are left out where there is no box, keys of masks where there is no mask.
[[nodiscard]] Value to_value(std::span<const LocalisationRow> rows);

}  // namespace roentgen::eval
