// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The gallery of a report: the images on which a model errs most, each beside its heat-map. eval/worst_cases.h selects
// them; the command finds the pictures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "publish/thumbnail.h"

namespace roentgen::publish {

/// One image under one finding.
struct GalleryCase {
  /// Probability from the predictions.
  float probability = 0.0F;
  /// Shown below the picture; empty: not named.
  std::string image{};
  /// The radiograph in gray, and under its heat-map where there are maps.
  Thumbnail picture{};
  Thumbnail overlay{};
};

/// One finding; either list may be empty.
struct GalleryRow {
  std::string label{};
  std::vector<GalleryCase> false_positives{};
  std::vector<GalleryCase> false_negatives{};
};

/// All rows, and the method of the maps.
struct Gallery {
  std::vector<GalleryRow> rows{};
  /// "cam", "grad-cam"; empty: the network has no maps.
  std::string method{};
  /// Reason why there are no maps, for people; empty where there are.
  std::string no_maps{};
  /// Largest difference between the given probabilities and the checkpoint's own; 0 when they agree.
  double largest_difference = 0.0;
};

/// Longest useful side; larger pictures are shrunk to it.
inline constexpr std::int64_t kGalleryPx = 160;
/// Limit of all pictures of a page, as text.
inline constexpr std::size_t kGalleryBytes = 6'000'000;

/// The gallery as HTML with JPEGs inside as data URIs. Pictures are made smaller until they fit into `most_bytes`;
/// ConfigError where 64 pixels are still too many.
/// @param of origin of the images, for people (no HTML)
[[nodiscard]] std::string gallery_html(const Gallery& gallery, const std::string& of,
                                       std::size_t most_bytes = kGalleryBytes);

}  // namespace roentgen::publish
