// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "publish/gallery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/random.h"

namespace roentgen::publish {
namespace {

using testing::HasSubstr;
using testing::Not;

// Returns a picture of random noise, which JPEG cannot compress well.
Thumbnail noise(std::int64_t side, int channels, std::uint64_t seed) {
  Random random(seed, RandomStage::Test);
  Thumbnail picture{.width_px = side, .height_px = side, .channels = channels, .pixels = {}};
  for (std::int64_t i = 0; i < side * side * channels; ++i) {
    picture.pixels.push_back(static_cast<std::uint8_t>(random.below(256)));
  }
  return picture;
}

GalleryCase one(float probability, std::string image = {}) {
  return {
      .probability = probability, .image = std::move(image), .picture = noise(200, 1, 1), .overlay = noise(200, 3, 2)};
}

Gallery sample() {
  return {.rows = {{.label = "<Mass>", .false_positives = {one(0.9F), one(0.8F)}, .false_negatives = {one(0.05F)}},
                   {.label = "Hernia", .false_positives = {one(0.25F)}, .false_negatives = {}}},
          .method = "cam"};
}

int count(const std::string& text, std::string_view part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Gallery, has_two_pictures_a_case_and_says_what_there_is_none_of) {
  const std::string html = gallery_html(sample(), "12 images");
  EXPECT_EQ(count(html, "<img "), 8);
  EXPECT_EQ(count(html, "src=\"data:image/jpeg;base64,/9j/"), 8) << "a JPEG begins with ff d8 ff";
  EXPECT_EQ(count(html, "<figure>"), 4);
  EXPECT_EQ(count(html, "no such image"), 1);
  EXPECT_THAT(html, HasSubstr("<h3>&lt;Mass&gt;</h3>"));
  EXPECT_THAT(html, HasSubstr("0.900"));
  EXPECT_THAT(html, HasSubstr("12 images"));
  EXPECT_THAT(html, HasSubstr("protect it like the images"));
  EXPECT_THAT(html, Not(HasSubstr("not those of this checkpoint")));
}

TEST(Gallery, without_heat_maps_shows_the_pictures_and_says_why) {
  Gallery bare = sample();
  bare.method.clear();
  bare.no_maps = "one cell <before> the mean";
  for (GalleryRow& row : bare.rows) {
    for (auto* cases : {&row.false_positives, &row.false_negatives}) {
      for (GalleryCase& each : *cases) each.overlay = {};
    }
  }
  const std::string html = gallery_html(bare, "");
  EXPECT_EQ(count(html, "<img "), 4);
  EXPECT_EQ(count(html, "<figure>"), 4);
  EXPECT_THAT(html, HasSubstr("No heat-maps: one cell &lt;before&gt; the mean."));
  EXPECT_THAT(html, Not(HasSubstr("on the right")));
}

TEST(Gallery, names_images_where_it_is_given_names) {
  EXPECT_THAT(gallery_html(sample(), ""), Not(HasSubstr(".png")));
  Gallery named = sample();
  named.rows[0].false_positives[0].image = "a&b.png";
  EXPECT_THAT(gallery_html(named, ""), HasSubstr("0.900 a&amp;b.png"));
}

TEST(Gallery, tells_of_predictions_that_are_not_the_checkpoints) {
  Gallery other = sample();
  other.largest_difference = 0.25;
  EXPECT_THAT(gallery_html(other, ""), HasSubstr("not those of this checkpoint"));
  other.largest_difference = 1e-6;
  EXPECT_THAT(gallery_html(other, ""), Not(HasSubstr("not those of this checkpoint")));
}

TEST(Gallery, makes_pictures_smaller_until_they_fit_and_refuses_when_they_cannot) {
  const std::size_t all = gallery_html(sample(), "").size();
  const std::size_t bound = all / 3;
  const std::string small = gallery_html(sample(), "", bound);
  EXPECT_LT(small.size(), bound + 2000) << "the text around the pictures is not counted";
  EXPECT_EQ(count(small, "<img "), 8);
  EXPECT_THROW((void)gallery_html(sample(), "", 1000), ConfigError);
}

}  // namespace
}  // namespace roentgen::publish
