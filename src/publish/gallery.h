// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The error gallery of a report: the images on which a model errs most, each next to its heat-map. eval/worst_cases.h
// selects the images; the command `report` finds their files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "publish/thumbnail.h"

namespace roentgen::publish {

/// One image of the error gallery.
struct GalleryCase {
  /// Predicted probability of the finding.
  float probability = 0.0F;
  /// Name of the image, shown below the picture; empty: no name is shown.
  std::string image{};
  /// The radiograph in gray; below, the radiograph with its heat-map (empty without heat-maps).
  Thumbnail picture{};
  Thumbnail overlay{};
};

/// Images of one finding; both lists may be empty.
struct GalleryRow {
  std::string label{};
  std::vector<GalleryCase> false_positives{};
  std::vector<GalleryCase> false_negatives{};
};

/// The whole gallery: one row per finding, and the method that computed the heat-maps.
struct Gallery {
  std::vector<GalleryRow> rows{};
  /// Name of the method, "cam" or "grad-cam"; empty: the network has no heat-maps.
  std::string method{};
  /// Reason why there are no heat-maps, for people; empty if there are heat-maps.
  std::string no_maps{};
  /// Largest difference between the given probabilities and those that the checkpoint computes; 0 if they agree.
  double largest_difference = 0.0;
};

/// Largest side of a picture on the page, px; larger pictures are shrunk.
inline constexpr std::int64_t kGalleryPx = 160;
/// Limit for the size of all pictures on a page, as encoded text.
inline constexpr std::size_t kGalleryBytes = 6'000'000;

/// Returns the gallery as HTML, with JPEG pictures embedded as data URIs. Pictures are made smaller until they fit into
/// `most_bytes`. Throws ConfigError if they do not fit even with 64 pixels.
/// @param of origin of the images, for people (plain text, not HTML)
[[nodiscard]] std::string gallery_html(const Gallery& gallery, const std::string& of,
                                       std::size_t most_bytes = kGalleryBytes);

}  // namespace roentgen::publish
