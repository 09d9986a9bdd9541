// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "publish/heatmap_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "data/source/source_testing.h"
#include "data/transform/transform.h"
#include "io/csv.h"
#include "io/png_writer.h"

namespace roentgen::publish {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kWidth = 90;
constexpr std::int64_t kHeight = 60;
// Centre of a bright square of 6 x 6 px, away from the middle of the picture.
constexpr double kBlobX = 31.0;
constexpr double kBlobY = 43.0;

class HeatmapFilesTest : public testing::Test {
 protected:
  HeatmapFilesTest() {
    std::vector<std::byte> pixels(kWidth * kHeight);
    for (std::int64_t y = 40; y < 46; ++y) {
      for (std::int64_t x = 28; x < 34; ++x) pixels[static_cast<std::size_t>(y * kWidth + x)] = std::byte{200};
    }
    sample_ = {.id = "blob.png", .path = folder_.path() / "blob.png"};
    io::write_png(sample_.path, {.width_px = kWidth, .height_px = kHeight, .pixels = pixels});
    EXPECT_TRUE(picture_.load(sample_).ok());
  }

  // Returns the heat-map of a network whose feature map equals its input.
  [[nodiscard]] eval::HeatMap map_of(data::Fit fit) const {
    data::Preprocess preprocess = data::preset("unit");
    preprocess.size_px = 32;
    preprocess.fit = fit;
    data::Image image({.width_px = kWidth, .height_px = kHeight});
    std::ranges::copy(picture_.gray(), image.samples<std::uint8_t>().begin());
    eval::CoarseMap cells{.width = 32, .height = 32, .values = std::vector<float>(32 * 32)};
    data::Transformer().apply(image, preprocess, nullptr,
                              {.bytes = std::as_writable_bytes(std::span(cells.values)), .dtype = DType::F32});
    return picture_.map_back(cells, preprocess);
  }

  // Expects the centre of mass of the heat-map to lie on the bright square.
  static void expect_middle_on_blob(const eval::HeatMap& map) {
    double mass = 0.0;
    double x = 0.0;
    double y = 0.0;
    for (std::int64_t j = 0; j < map.height_px; ++j) {
      for (std::int64_t i = 0; i < map.width_px; ++i) {
        const float value = map.values[static_cast<std::size_t>(j * map.width_px + i)];
        if (std::isnan(value)) continue;
        mass += value;
        x += value * (static_cast<double>(i) + 0.5);
        y += value * (static_cast<double>(j) + 0.5);
      }
    }
    // Two resizes move a position by at most a fraction of a network pixel, which covers 2 to 3 picture pixels.
    EXPECT_NEAR(x / mass, kBlobX, 0.3);
    EXPECT_NEAR(y / mass, kBlobY, 0.3);
  }

  data::TestFolder folder_;
  data::Sample sample_;
  Picture picture_;
};

TEST_F(HeatmapFilesTest, maps_a_blob_back_to_where_it_was_after_a_squash) {
  const eval::HeatMap map = map_of(data::Fit::Squash);
  EXPECT_EQ(map.width_px, kWidth);
  EXPECT_EQ(map.height_px, kHeight);
  expect_middle_on_blob(map);
}

TEST_F(HeatmapFilesTest, maps_a_blob_back_to_where_it_was_after_a_pad) {
  expect_middle_on_blob(map_of(data::Fit::Pad));
}

TEST_F(HeatmapFilesTest, maps_a_blob_back_to_where_it_was_after_a_crop) {
  const eval::HeatMap map = map_of(data::Fit::Crop);
  expect_middle_on_blob(map);
  // The network received only the middle 60 of the 90 columns.
  EXPECT_TRUE(std::isnan(map.values[14]));
  EXPECT_FALSE(std::isnan(map.values[15]));
  EXPECT_FALSE(std::isnan(map.values[74]));
  EXPECT_TRUE(std::isnan(map.values[75]));
}

TEST_F(HeatmapFilesTest, names_no_image_in_file_names_unless_told_to) {
  const HeatmapEntry entry{.number = 7, .image = "p/00000013_005.png", .label = "Pleural Thickening"};
  for (const ImageNames names : {ImageNames::Hidden, ImageNames::Shown}) {
    const fs::path out = folder_.path() / (names == ImageNames::Hidden ? "hidden" : "shown");
    HeatmapFolder maps(out, "cam", names);
    maps.write(entry, picture_, map_of(data::Fit::Squash), std::vector<eval::Box>{{10, 20, 30, 20}});
    maps.finish();
    const std::string stem =
        names == ImageNames::Hidden ? "000007_Pleural_Thickening" : "000007_00000013_005_Pleural_Thickening";
    EXPECT_TRUE(fs::exists(out / (stem + ".png")));
    EXPECT_EQ(fs::file_size(out / (stem + ".npy")), 128U + kWidth * kHeight * sizeof(float));
    const io::Csv table = io::read_csv(out / "heatmaps.csv").or_throw();
    ASSERT_EQ(table.rows.size(), 1U);
    EXPECT_EQ(table.rows[0][0], entry.image);
    EXPECT_EQ(table.rows[0][3], stem + ".png");
  }
}

TEST_F(HeatmapFilesTest, leaves_raw_maps_out_when_told_to) {
  const fs::path out = folder_.path() / "out";
  HeatmapFolder maps(out, "cam", ImageNames::Hidden, RawMaps::LeftOut);
  maps.write({.number = 1, .image = "=x.png", .label = "Mass"}, picture_, map_of(data::Fit::Squash), {});
  maps.finish();
  EXPECT_TRUE(fs::exists(out / "000001_Mass.png"));
  EXPECT_FALSE(fs::exists(out / "000001_Mass.npy"));
  const io::Csv table = io::read_csv(out / "heatmaps.csv").or_throw();
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0][0], "=x.png");
  EXPECT_EQ(table.rows[0][3], "000001_Mass.png");
  EXPECT_EQ(table.rows[0][4], "");
}

TEST_F(HeatmapFilesTest, labels_that_no_file_name_tells_apart_keep_files_of_their_own) {
  const std::string long_label(400, 'x');
  const std::vector<std::string> labels{"\u80ba\u708e", "\u6c14\u80f8", "______", long_label};
  const std::vector<std::string> names{"______", "_______2", "_______3", long_label.substr(0, 100)};
  HeatmapFolder maps(folder_.path() / "out", "cam", ImageNames::Hidden);
  for (const std::int64_t number : {1, 2}) {
    for (const std::string& label : labels) {
      maps.write({.number = number, .image = "a.png", .label = label}, picture_, map_of(data::Fit::Squash), {});
    }
    for (const std::string& name : names) {
      EXPECT_TRUE(fs::exists(folder_.path() / "out" / ("00000" + std::to_string(number) + "_" + name + ".npy")))
          << name;
    }
  }
}

TEST(Picture, shows_16_bits_as_8) {
  const data::TestFolder folder;
  const std::vector<std::uint16_t> pixels{0, 257, 32768, 65535};
  const data::Sample sample{.id = "deep.png", .path = folder.path() / "deep.png"};
  io::write_png(sample.path, {.width_px = 4, .height_px = 1, .bits = 16, .pixels = std::as_bytes(std::span(pixels))});
  Picture picture;
  ASSERT_TRUE(picture.load(sample).ok());
  EXPECT_THAT(picture.gray(), ElementsAre(0, 1, 128, 255));
}

TEST_F(HeatmapFilesTest, draws_boxes_in_white) {
  HeatmapFolder maps(folder_.path() / "out", "cam", ImageNames::Hidden);
  maps.write({.number = 1, .image = "x.png", .label = "Mass"}, picture_, map_of(data::Fit::Squash),
             std::vector<eval::Box>{{10, 20, 30, 20}, {80, 50, 30, 30}});
  Picture overlay;
  ASSERT_TRUE(overlay.load({.id = "x", .path = folder_.path() / "out/000001_Mass.png"}).ok());
  const std::vector<std::uint8_t> gray = overlay.gray();
  const auto at = [&](std::size_t x, std::size_t y) { return gray[y * kWidth + x]; };
  for (const auto& [x, y] : {std::pair{10U, 20U}, {39U, 20U}, {10U, 39U}, {39U, 39U}, {80U, 50U}, {89U, 59U}}) {
    EXPECT_EQ(at(x, y), 255) << x << "," << y;
  }
  EXPECT_LT(at(11, 21), 255);
}

TEST_F(HeatmapFilesTest, refuses_a_folder_in_use) {
  try {
    const HeatmapFolder maps(folder_.path(), "cam", ImageNames::Hidden);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("expected a new or empty folder, got a folder that is not empty"));
  }
}

}  // namespace
}  // namespace roentgen::publish
