// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Inputs from JPEG files decoded at reduced size. Decoding only the needed part must give the same input as the whole
// picture, and nearly the input of a full-size decode.
#include <gtest/gtest.h>

#include <cmath>

#include "data/codec/codec_testing.h"
#include "data/transform/geometry.h"
#include "data/transform/transform_testing.h"

namespace roentgen::data {
namespace {

constexpr int kWidth = 421;
constexpr int kHeight = 337;

// Encodes waves of 40 to 60 pixels: as smooth as soft tissue, without noise.
std::vector<std::byte> file_of(int format, int subsampling) {
  std::vector<std::byte> samples;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const double level = 128.0 + 60.0 * std::sin(x / 7.0) + 50.0 * std::cos(y / 9.0);
      samples.insert(samples.end(), format == TJPF_GRAY ? 1 : 3, static_cast<std::byte>(std::lround(level)));
    }
  }
  return encode_test_jpeg({.width_px = kWidth,
                           .height_px = kHeight,
                           .format = format,
                           .subsampling = subsampling,
                           .quality = 95,
                           .samples = samples});
}

std::vector<float> input_of(const std::vector<std::byte>& file, const Preprocess& preprocess, const AugmentDraw& draw,
                            const std::function<ImageNeed(const ImageLayout&)>& need, Image& image) {
  const Channels channels = preprocess.channels == 1 ? Channels::Gray : Channels::FromFile;
  const Status status = Decoder{}.decode(file, "x", {.channels = channels, .need = need}, image);
  EXPECT_TRUE(status.ok()) << status.error();
  return transform(image, preprocess, &draw);
}

class ScaledJpeg : public testing::TestWithParam<std::pair<int, int>> {};
INSTANTIATE_TEST_SUITE_P(Forms, ScaledJpeg,
                         testing::Values(std::pair{int{TJPF_GRAY}, int{TJSAMP_GRAY}},
                                         std::pair{int{TJPF_RGB}, int{TJSAMP_420}}));

// Tolerance for float32 weights, because positions are computed from another corner.
constexpr double kRounding = 2e-5;

TEST_P(ScaledJpeg, gives_the_same_input_from_the_part_as_from_the_whole) {
  const auto file = file_of(GetParam().first, GetParam().second);
  const Augment augment{.rotate_deg = 30.0,
                        .shear_deg = 10.0,
                        .translate = 0.2,
                        .scale = 0.3,
                        .crop_area_min = 0.2,
                        .crop_aspect_max = 1.5,
                        .flip_probability = 0.5,
                        .is_crop_random = true};
  int parts = 0;
  for (std::uint64_t round = 0; round < 60; ++round) {
    Random random(21, RandomStage::Test, round);
    constexpr std::array kFits{Fit::Squash, Fit::Crop, Fit::Pad};
    Preprocess preprocess = unit(20 + static_cast<std::int64_t>(random.below(60)), kFits.at(round % 3),
                                 GetParam().first == TJPF_GRAY ? 1 : 3);
    if (random.chance(0.5)) preprocess.resize_px = preprocess.size_px + 9;
    const AugmentDraw drawn = draw(random.chance(0.7) ? augment : Augment{.is_crop_random = true}, random);
    Image part, whole;
    const auto from_part = input_of(
        file, preprocess, drawn, [&](const ImageLayout& p) { return need_of(p, preprocess, drawn); }, part);
    const auto from_whole = input_of(
        file, preprocess, drawn,
        [&](const ImageLayout& p) {
          return ImageNeed{
              .reduction = need_of(p, preprocess, drawn).reduction, .width_px = p.width_px, .height_px = p.height_px};
        },
        whole);
    ASSERT_EQ(part.part().reduction, whole.part().reduction);
    parts += part.width_px() < whole.width_px() ? 1 : 0;
    ASSERT_LE(largest_difference(from_part, from_whole), kRounding) << round;
  }
  EXPECT_GE(parts, GetParam().first == TJPF_GRAY ? 10 : 0);
}

// Bound of 1% of the range for smooth pictures. The only differences are the additional blur of means of 2x2 to 8x8
// pixels, and the triangle filter at edges.
TEST_P(ScaledJpeg, is_close_to_the_exact_one) {
  const auto file = file_of(GetParam().first, GetParam().second);
  for (const std::int64_t size : {30, 60, 100, 160}) {
    const Preprocess preprocess = unit(size, Fit::Squash, GetParam().first == TJPF_GRAY ? 1 : 3);
    Image image;
    const auto scaled = input_of(
        file, preprocess, {}, [&](const ImageLayout& p) { return need_of(p, preprocess, {}); }, image);
    EXPECT_EQ(image.part().reduction, size < 43 ? 8 : size < 85 ? 4 : 2);
    const auto exact = input_of(file, preprocess, {}, {}, image);
    double sum = 0.0;
    for (std::size_t i = 0; i < exact.size(); ++i) sum += std::abs(static_cast<double>(scaled[i] - exact[i]));
    EXPECT_LE(sum / static_cast<double>(exact.size()), 0.01) << size;
  }
}

TEST(NeedOf, is_the_whole_picture_where_jpeg_is_exact_or_does_not_shrink) {
  Preprocess preprocess = unit(100);
  const ImageLayout picture{.width_px = 400, .height_px = 300};
  EXPECT_EQ(need_of(picture, preprocess, {}).reduction, 2) << "300 / 100";
  EXPECT_EQ(need_of({.width_px = 400, .height_px = 199}, preprocess, {}).reduction, 1);
  EXPECT_EQ(need_of(picture, preprocess, {.zoom = 2.0}).reduction, 1);
  preprocess.jpeg = JpegSize::Exact;
  EXPECT_EQ(need_of(picture, preprocess, {}).reduction, 1);
}

TEST(NeedOf, reaches_as_far_as_the_filter) {
  Preprocess preprocess = unit(100);
  const ImageNeed need = need_of({.width_px = 1600, .height_px = 1600}, preprocess,
                                 {.crop_width = 0.5, .crop_height = 0.5, .crop_x = 0.25, .crop_y = 0.75});
  EXPECT_EQ(need.reduction, 8);
  EXPECT_EQ(need.left, 0);
  EXPECT_LE(need.width_px, 103);
  EXPECT_GE(need.width_px, 101);
  EXPECT_LE(need.top, 99);
  EXPECT_EQ(need.top + need.height_px, 200);
}

}  // namespace
}  // namespace roentgen::data
