// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "publish/gallery.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "core/error.h"
#include "io/base64.h"
#include "io/jpeg_writer.h"
#include "publish/svg_plot.h"

namespace roentgen::publish {
namespace {

constexpr std::array<std::int64_t, 4> kSidesPx{kGalleryPx, 128, 96, 64};
// Tolerance for equal probabilities, because machines round differently and a csv may have few digits.
constexpr double kSameProbability = 1e-3;

// Returns an HTML img element with the picture as embedded JPEG.
std::string image_html(const Thumbnail& picture, std::int64_t side_px, std::string_view what) {
  const Thumbnail small = shrink(picture, side_px);
  return fmt::format("<img alt=\"{}\" src=\"data:image/jpeg;base64,{}\">", what,
                     io::to_base64(io::encode_jpeg({.width_px = small.width_px,
                                                    .height_px = small.height_px,
                                                    .channels = small.channels,
                                                    .pixels = small.pixels})));
}

std::string case_html(const GalleryCase& one, std::int64_t side_px) {
  std::string caption = fmt::format("probability {:.3f}", one.probability);
  if (!one.image.empty()) caption += " " + escaped(one.image);
  std::string text = "<figure>" + image_html(one.picture, side_px, "radiograph");
  if (!one.overlay.pixels.empty()) text += image_html(one.overlay, side_px, "the same under its heat-map");
  return text + "<figcaption>" + caption + "</figcaption></figure>\n";
}

std::string cases_html(std::string_view title, const std::vector<GalleryCase>& cases, std::int64_t side_px) {
  std::string text = fmt::format("<h4>{}</h4>\n", title);
  if (cases.empty()) return text + "<p class=\"absent\">no such image</p>\n";
  text += "<div class=\"cases\">\n";
  for (const GalleryCase& one : cases) text += case_html(one, side_px);
  return text + "</div>\n";
}

std::string maps_html(const Gallery& gallery) {
  if (!gallery.no_maps.empty()) return ". No heat-maps: " + escaped(gallery.no_maps) + ".";
  return "; on the right the heat-map of that finding (" + escaped(gallery.method) +
         "): red where most of this image speaks for it, the plain radiograph where nothing does.";
}

std::string rows_html(const Gallery& gallery, std::int64_t side_px) {
  std::string text;
  for (const GalleryRow& row : gallery.rows) {
    text += "<h3>" + escaped(row.label) + "</h3>\n";
    text += cases_html("labelled negative, most probable", row.false_positives, side_px);
    text += cases_html("labelled positive, least probable", row.false_negatives, side_px);
  }
  return text;
}

}  // namespace

std::string gallery_html(const Gallery& gallery, const std::string& of, std::size_t most_bytes) {
  std::optional<std::string> rows;
  for (std::size_t i = 0; i < kSidesPx.size() && !rows; ++i) {
    std::string text = rows_html(gallery, kSidesPx[i]);
    if (text.size() <= most_bytes) rows = std::move(text);
  }
  if (!rows) {
    throw ConfigError(
        error_text("publish.gallery", "error gallery", fmt::format("at most {} bytes of pictures", most_bytes),
                   fmt::format("more, even with pictures of {} pixels", kSidesPx.back()), "a smaller --gallery"));
  }
  std::string text = "<h2 id=\"gallery\">Error gallery</h2>\n<p>" + escaped(of) +
                     ". For each finding: the highest-scoring negatives and the lowest-scoring positives (ties by "
                     "name). Below each image is its probability" +
                     maps_html(gallery) +
                     " Labels mined from reports are noisy, so some of these errors are label errors.</p>\n"
                     "<p class=\"notice\">This page contains radiographs: protect it like the images.</p>\n";
  if (gallery.largest_difference > kSameProbability) {
    text += fmt::format(
        "<p class=\"notice\">The predictions are not those of this checkpoint (averaged views, several models, or "
        "another model). Probabilities come from the file and heat-maps from the checkpoint; their probabilities "
        "differ by up to {:.3f}.</p>\n",
        gallery.largest_difference);
  }
  return text + *rows;
}

}  // namespace roentgen::publish
