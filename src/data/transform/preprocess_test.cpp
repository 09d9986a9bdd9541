// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/transform/preprocess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace roentgen::data {
namespace {

using testing::HasSubstr;

constexpr std::array kPresets{"xray", "imagenet", "xrv", "unit"};

Value table_of(std::initializer_list<std::pair<std::string, Value>> entries) { return Value(Value::Table(entries)); }

std::string error_of(const Value& table) {
  try {
    static_cast<void>(preprocess_from_value(table));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Preprocess, comes_back_from_its_value) {
  for (const char* name : kPresets) {
    Preprocess preprocess = preset(name);
    preprocess.size_px = 96;
    preprocess.resize_px = 110;
    preprocess.fit = Fit::Pad;
    preprocess.filter = Filter::Area;
    preprocess.jpeg = JpegSize::Exact;
    EXPECT_EQ(preprocess_from_value(preprocess.to_value()), preprocess) << name;
  }
}

TEST(Preprocess, of_xrv_takes_dicom_as_torchxrayvision_does) {
  EXPECT_EQ(preset("xrv").intensity, "xrv");
  EXPECT_EQ(preset("xray").intensity, "stored");
}

TEST(Preprocess, of_an_empty_table_is_xray) {
  EXPECT_EQ(preprocess_from_value(Value::table()), preset("xray"));
  EXPECT_EQ(preset("xray"), Preprocess{});
}

TEST(Preprocess, starts_from_a_preset_and_overrides) {
  const Preprocess preprocess =
      preprocess_from_value(table_of({{"preset", "imagenet"}, {"size", 320}, {"fit", "crop"}, {"filter", "area"}}));
  EXPECT_EQ(preprocess.size_px, 320);
  EXPECT_EQ(preprocess.channels, 3);
  EXPECT_EQ(preprocess.fit, Fit::Crop);
  EXPECT_EQ(preprocess.filter, Filter::Area);
  EXPECT_EQ(preset_name(preprocess), "imagenet");
}

TEST(Preprocess, averages_three_channels_into_one) {
  const Preprocess preprocess = preprocess_from_value(table_of({{"preset", "imagenet"}, {"channels", 1}}));
  ASSERT_EQ(preprocess.mean.size(), 1U);
  EXPECT_NEAR(preprocess.mean[0], 0.449, 1e-12);
  EXPECT_NEAR(preprocess.stddev[0], 0.226, 1e-12);
  EXPECT_EQ(preset_name(preprocess), "imagenet");
}

TEST(Preprocess, repeats_one_channel_for_three) {
  const Preprocess preprocess = preprocess_from_value(table_of({{"channels", 3}, {"std", 0.2}}));
  EXPECT_EQ(preprocess.mean, (std::vector<double>{0.5, 0.5, 0.5}));
  EXPECT_EQ(preprocess.stddev, (std::vector<double>{0.2, 0.2, 0.2}));
  EXPECT_EQ(preset_name(preprocess), "");
}

TEST(Preprocess, reads_as_one_line) {
  EXPECT_EQ(preset("xray").text(), "224x224 gray, squash, triangle, scaled JPEG, (v - 0.5) / 0.25 (xray)");
  EXPECT_EQ(preset("imagenet").text(),
            "224x224 RGB, squash, triangle, scaled JPEG, (v - 0.485 0.456 0.406) / 0.229 0.224 0.225 (imagenet)");
  Preprocess own;
  own.mean = {0.25};
  EXPECT_EQ(own.text(), "224x224 gray, squash, triangle, scaled JPEG, (v - 0.25) / 0.25");
  own.resize_px = 256;
  own.jpeg = JpegSize::Exact;
  EXPECT_EQ(own.text(), "224x224 of 256x256 gray, squash, triangle, (v - 0.25) / 0.25");
}

TEST(Preprocess, refuses_what_it_does_not_know) {
  EXPECT_EQ(error_of(table_of({{"sise", 5}})),
            "[data.preprocess] key: expected one of preset, size, resize, channels, fit, filter, jpeg, "
            "intensity, mean, std, "
            "got sise; try "
            "roentgen train --keys for all keys and what they take");
  EXPECT_EQ(error_of(table_of({{"preset", "xrays"}})),
            "[data.preprocess] preset: expected one of xray, imagenet, xrv, unit, got xrays; try xray or imagenet");
  EXPECT_EQ(error_of(table_of({{"fit", "stretch"}})),
            "[data.preprocess] fit: expected one of squash, crop, pad, got stretch; try "
            "roentgen train --keys for all keys and what they take");
  EXPECT_THAT(error_of(table_of({{"filter", "cubic"}})), HasSubstr("expected one of triangle, area"));
  EXPECT_THAT(error_of(table_of({{"jpeg", "fast"}})), HasSubstr("jpeg: expected one of exact, scaled, got fast"));
  EXPECT_THAT(error_of(table_of({{"intensity", "jpg"}})),
              HasSubstr("expected one of stored, voi, nih, mimic-jpg, chexpert, xrv, got jpg"));
}

TEST(Preprocess, keeps_and_names_the_treatment_of_dicom_files) {
  const Preprocess viewed = preprocess_from_value(table_of({{"intensity", "voi"}}));
  EXPECT_EQ(viewed.intensity, "voi");
  EXPECT_THAT(viewed.text(), HasSubstr("DICOM as voi"));
  EXPECT_EQ(preprocess_from_value(viewed.to_value()), viewed);
}

TEST(Preprocess, refuses_numbers_out_of_range) {
  EXPECT_THAT(error_of(table_of({{"size", 0}})), HasSubstr("size: expected 1 to 16384 pixels, got 0"));
  EXPECT_THAT(error_of(table_of({{"size", 100000}})), HasSubstr("got 100000"));
  EXPECT_THAT(error_of(table_of({{"resize", 223}})), HasSubstr("resize: expected 0, or 224 to 16384 pixels, got 223"));
  EXPECT_THAT(error_of(table_of({{"channels", 2}})), HasSubstr("channels: expected 1 or 3, got 2"));
  EXPECT_THAT(error_of(table_of({{"std", 0.0}})), HasSubstr("std: expected positive numbers, got 0"));
  EXPECT_THAT(error_of(table_of({{"mean", Value(Value::Array{0.1, 0.2})}})),
              HasSubstr("mean: expected one number, got"));
  EXPECT_NE(error_of(table_of({{"size", "large"}})), "no error");
}

}  // namespace
}  // namespace roentgen::data
