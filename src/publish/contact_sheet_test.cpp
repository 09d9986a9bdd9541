// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests that the sheet shows preprocessed samples below the names of their findings, and crosses out unreadable
// samples.
#include "publish/contact_sheet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "io/io_testing.h"
#include "io/png_writer.h"
#include "publish/caption.h"

namespace roentgen::publish {
namespace {

constexpr std::int64_t kSide = 24;

// Fixture with images of one gray level each. Label 0 is positive in every third image, label 1 in every sixth image,
// label 2 in no image. The last file is no image.
class ContactSheet : public ::testing::Test {
 protected:
  void SetUp() override {
    dataset_.label_names = {"Mass", "Edema", "Hernia"};
    for (std::uint32_t i = 0; i < 30; ++i) {
      const auto path = folder_.path() / (std::to_string(i) + ".png");
      const std::vector<std::byte> pixels(static_cast<std::size_t>(kSide * kSide), std::byte(8 * i));
      if (i == 29) {
        io::testing::put_file(path, "no image");
      } else {
        io::write_png(path, {.width_px = kSide, .height_px = kSide, .pixels = pixels});
      }
      const float mass = i % 3 == 0 ? 1.0F : 0.0F, edema = i % 6 == 0 ? 1.0F : 0.0F;
      dataset_.samples.push_back({.id = path.filename().string(),
                                  .path = path,
                                  .split = i < 28 || i == 29 ? data::Split::Train : data::Split::Val,
                                  .labels = {mass, edema, 0.0F}});
    }
    view_.preprocess.size_px = kSide;
  }
  io::testing::TemporaryFolder folder_;
  data::Dataset dataset_;
  SheetView view_;
};

TEST_F(ContactSheet, has_a_row_a_label_and_one_of_none) {
  const std::vector<SheetRow> rows = choose_rows(dataset_, {.columns = 4, .seed = 5});
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].caption, "Mass: 10 in train");
  EXPECT_EQ(rows[1].caption, "Edema: 5 in train");
  EXPECT_EQ(rows[2].caption, "Hernia: 0 in train");
  EXPECT_EQ(rows[3].caption, "none of these: 19 in train");
  EXPECT_TRUE(rows[2].samples.empty());
  for (const std::size_t row : {0, 1, 3}) {
    EXPECT_EQ(std::set(rows[row].samples.begin(), rows[row].samples.end()).size(), 4U);
  }
  for (const std::uint32_t sample : rows[1].samples) EXPECT_EQ(sample % 6, 0U);
  for (const std::uint32_t sample : rows[3].samples) EXPECT_NE(sample % 3, 0U);
  EXPECT_EQ(choose_rows(dataset_, {.columns = 4, .seed = 5})[3].samples, rows[3].samples);
  EXPECT_NE(choose_rows(dataset_, {.columns = 4, .seed = 6})[3].samples, rows[3].samples);
  EXPECT_EQ(choose_rows(dataset_, {.columns = 99})[0].samples.size(), 10U);
}

TEST_F(ContactSheet, shows_pixels_as_they_are_without_distortion) {
  const std::vector<SheetRow> rows{{"A", {3, 7}}, {"B", {20}}};
  const Sheet sheet = draw_sheet(dataset_, rows, view_);
  EXPECT_EQ(sheet.picture.width_px, 2 * kSide + 2);
  const std::int64_t caption = kCaptionHeight + 4;
  ASSERT_EQ(sheet.picture.height_px, 2 * (caption + kSide + 2));
  EXPECT_EQ(sheet.picture.at(0, caption), 24);
  EXPECT_EQ(sheet.picture.at(kSide - 1, caption + kSide - 1), 24);
  EXPECT_EQ(sheet.picture.at(kSide, caption), 0);  // the gap between tiles
  EXPECT_EQ(sheet.picture.at(kSide + 2, caption), 56);
  EXPECT_EQ(sheet.picture.at(5, 2 * caption + kSide + 2 + 5), 160);
  EXPECT_EQ(sheet.picture.at(kSide + 7, 2 * caption + kSide + 2 + 5), 0);  // the row has no second sample
  EXPECT_TRUE(sheet.unreadable.empty());
}

TEST_F(ContactSheet, distorts_as_training_does) {
  const std::vector<SheetRow> rows{{"A", {10, 11}}};
  const data::Augment augment{.brightness = 0.2};
  view_.augment = &augment;
  view_.seed = 9;
  view_.epoch = 4;
  const Sheet sheet = draw_sheet(dataset_, rows, view_);
  for (std::uint32_t i = 0; i < 2; ++i) {
    const std::string& id = dataset_.samples[10 + i].id;
    const double brightness = data::draw(augment, {.seed = 9, .epoch = 4, .id = id}).brightness;
    const double wanted = std::clamp(8.0 * (10 + i) / 255.0 + brightness, 0.0, 1.0) * 255.0;
    EXPECT_NEAR(sheet.picture.at(i * (kSide + 2) + 5, kCaptionHeight + 4 + 5), wanted, 0.51);
  }
}

TEST_F(ContactSheet, crosses_out_what_cannot_be_read) {
  const Sheet sheet = draw_sheet(dataset_, std::vector<SheetRow>{{"A", {29, 1}}}, view_);
  ASSERT_EQ(sheet.unreadable.size(), 1U);
  EXPECT_THAT(sheet.unreadable[0], ::testing::HasSubstr("29.png"));
  EXPECT_EQ(sheet.picture.at(0, kCaptionHeight + 4), 255);
  EXPECT_EQ(sheet.picture.at(kSide + 2, kCaptionHeight + 4), 8);
}

TEST(Caption, draws_dots_inside_the_picture_only) {
  GrayPicture picture(14, 9);
  write_caption(picture, 1, 1, 1, "lT");
  EXPECT_EQ(picture.at(1, 1), 255);  // upright of the L
  EXPECT_EQ(picture.at(5, 1), 0);
  EXPECT_EQ(picture.at(5, 7), 255);  // foot of the L
  EXPECT_EQ(picture.at(7, 1), 255);  // bar of the T
  EXPECT_EQ(picture.at(9, 7), 255);
  GrayPicture twice(28, 18);
  write_caption(twice, 2, 2, 2, "lT");
  for (std::int64_t y = 0; y < 18; ++y) {
    for (std::int64_t x = 0; x < 28; ++x) EXPECT_EQ(twice.at(x, y), picture.at(x / 2, y / 2));
  }
  GrayPicture small(3, 3);
  write_caption(small, -2, -3, 4, "A~");  // text that begins outside the picture is clipped
}

}  // namespace
}  // namespace roentgen::publish
