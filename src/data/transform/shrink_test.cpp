// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/transform/shrink.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"
#include "data/transform/transform.h"

namespace roentgen::data {
namespace {

template <typename T>
Image noise(const ImageLayout& layout) {
  Image image(layout);
  Random random(17, RandomStage::Test);
  for (T& sample : image.samples<T>()) sample = static_cast<T>(random.below(layout.max_value + 1));
  return image;
}

TEST(Shrink, keeps_shape_and_type) {
  Image image = noise<std::uint8_t>({.width_px = 101, .height_px = 64, .channels = 3});
  EXPECT_TRUE(shrink(image, 16, Filter::Triangle));
  EXPECT_EQ(image.layout(), (ImageLayout{.width_px = 25, .height_px = 16, .channels = 3}));
}

TEST(Shrink, leaves_what_is_small_enough) {
  Image image = noise<std::uint8_t>({.width_px = 40, .height_px = 16});
  const ImageLayout before = image.layout();
  EXPECT_FALSE(shrink(image, 16, Filter::Triangle));
  EXPECT_EQ(image.layout(), before);
}

// Checks that a shrunk square picture equals the evaluation transform within half a step of the sample type.
template <typename T>
void expect_as_the_transform(const ImageLayout& layout, Filter filter) {
  Image image = noise<T>(layout);
  Preprocess preprocess{.size_px = 12, .channels = layout.channels, .filter = filter};
  preprocess.mean.assign(static_cast<std::size_t>(layout.channels), 0.0);
  preprocess.stddev.assign(static_cast<std::size_t>(layout.channels), 1.0);
  std::vector<float> whole(slot_bytes(preprocess, DType::F32) / sizeof(float));
  Transformer().apply(image, preprocess, nullptr, {.bytes = std::as_writable_bytes(std::span(whole))});
  ASSERT_TRUE(shrink(image, 12, filter));
  const auto samples = image.samples<T>();
  const auto channels = static_cast<std::size_t>(layout.channels);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const float exact = whole[i % channels * 144 + i / channels] * static_cast<float>(layout.max_value);
    ASSERT_NEAR(samples[i], exact, 0.5 + 1e-5 * layout.max_value) << i;  // rounding, and float32 error of the sums
  }
}

TEST(Shrink, is_the_resize_of_the_transform) {
  for (const Filter filter : {Filter::Triangle, Filter::Area}) {
    expect_as_the_transform<std::uint8_t>({.width_px = 50, .height_px = 50}, filter);
    expect_as_the_transform<std::uint8_t>({.width_px = 31, .height_px = 31, .channels = 3}, filter);
    expect_as_the_transform<std::uint16_t>({.width_px = 50, .height_px = 50, .bits = 16, .max_value = 65535}, filter);
    expect_as_the_transform<std::uint16_t>({.width_px = 50, .height_px = 50, .bits = 16, .max_value = 4095}, filter);
  }
}

}  // namespace
}  // namespace roentgen::data
