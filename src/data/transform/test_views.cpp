// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/transform/test_views.h"

#include <algorithm>
#include <array>
#include <span>

#include "core/error.h"

namespace roentgen::data {
namespace {

struct Place {
  double x;
  double y;
};

constexpr double kLow = kTestCrop / 2.0;
constexpr double kHigh = 1.0 - kTestCrop / 2.0;
constexpr std::array kCrops{Place{0.5, 0.5}, Place{kLow, kLow}, Place{kHigh, kLow}, Place{kLow, kHigh},
                            Place{kHigh, kHigh}};

struct Kind {
  std::string_view name;
  std::string_view text;
  /// Centres of the crops; empty means the whole picture.
  std::span<const Place> crops;
  bool is_mirrored;
};

constexpr std::array kKinds{
    Kind{"none", "the picture as it is", {}, false},
    Kind{"flip", "mean probability of the picture and its mirror image", {}, true},
    Kind{"five-crop", "mean probability of five parts, 7/8 of the side: middle and four corners", kCrops, false},
    Kind{"ten-crop",
         "mean probability of five parts, 7/8 of the side (middle and four corners), and their mirror images", kCrops,
         true}};

const Kind& kind_of(std::string_view name) {
  const auto found = std::ranges::find(kKinds, name, &Kind::name);
  if (found != kKinds.end()) return *found;
  throw ConfigError(
      error_text("data.views", "--tta", "one of " + test_view_names(), std::string(name), "one of these names"));
}

}  // namespace

std::string test_view_names() {
  std::string names;
  for (const Kind& kind : kKinds) names += (names.empty() ? "" : ", ") + std::string(kind.name);
  return names;
}

std::vector<AugmentDraw> test_views(std::string_view name, const Preprocess& preprocess) {
  const Kind& kind = kind_of(name);
  std::vector<AugmentDraw> views;
  if (kind.crops.empty()) views.emplace_back();
  for (const Place& place : kind.crops) {
    if (preprocess.is_cut()) {
      views.push_back({.cut_x = (place.x - kLow) / (kHigh - kLow), .cut_y = (place.y - kLow) / (kHigh - kLow)});
    } else {
      views.push_back({.crop_width = kTestCrop, .crop_height = kTestCrop, .crop_x = place.x, .crop_y = place.y});
    }
  }
  if (kind.is_mirrored) {
    const std::size_t count = views.size();
    for (std::size_t i = 0; i < count; ++i) {
      views.push_back(views[i]);
      views.back().flip = true;
    }
  }
  return views;
}

std::string test_views_text(std::string_view name) { return std::string(kind_of(name).text); }

}  // namespace roentgen::data
