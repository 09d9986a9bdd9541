// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/film_detail.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <span>

#include "io/sha256.h"

namespace roentgen::synth {
namespace {
constexpr std::int64_t kSize = 512;
constexpr Pose kPose{.field_mm = 335.0};

/// Returns a canvas with 200 mm of tissue everywhere except in the left quarter.
Canvas half_body(std::int64_t size) {
  Canvas canvas(size, kPose);
  for (std::size_t i = 0; i < canvas.planes.body.size(); ++i) {
    canvas.planes.body[i] = static_cast<std::int64_t>(i) % size < size / 4 ? 0.0F : 200.0F;
  }
  return canvas;
}

double spread(const std::vector<float>& values) {
  const double n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double sum = 0.0;
  for (const float v : values) sum += (v - mean) * (v - mean);
  return std::sqrt(sum / n);
}

TEST(FineStructure, is_absent_from_small_images) {
  EXPECT_EQ(detail_share(335.0 / 80), 0.0);
  EXPECT_EQ(detail_share(335.0 / 260), 0.0);
  EXPECT_EQ(detail_share(335.0 / 1024), 1.0);
  const Canvas canvas = half_body(224);
  std::vector<float> integrals(canvas.planes.body.size(), 2.0F);
  const std::vector<float> before = integrals;
  add_fine_structure(integrals, canvas, 1);
  blur_as_detector(integrals, canvas, 1);
  EXPECT_EQ(integrals, before);
}

TEST(FineStructure, lies_inside_the_body_and_follows_the_seed) {
  const Canvas canvas = half_body(kSize);
  std::vector<float> one(canvas.planes.body.size(), 2.0F), again = one, other = one;
  add_fine_structure(one, canvas, 1);
  add_fine_structure(again, canvas, 1);
  add_fine_structure(other, canvas, 2);
  EXPECT_EQ(one, again);
  EXPECT_NE(one, other);
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (i % kSize < kSize / 4) {
      ASSERT_EQ(one[i], 2.0F) << i;
    }
  }
  EXPECT_GT(spread(one), 0.005);
  EXPECT_NEAR(std::accumulate(one.begin(), one.end(), 0.0) / static_cast<double>(one.size()), 2.0, 0.005);
}

// The structure has the same position at every image size: the large image, averaged down, equals the small one.
TEST(FineStructure, is_the_same_at_every_size) {
  const Canvas large = half_body(2 * kSize), small = half_body(kSize);
  std::vector<float> fine(large.planes.body.size(), 2.0F), coarse(small.planes.body.size(), 2.0F);
  add_fine_structure(fine, large, 7);
  add_fine_structure(coarse, small, 7);
  double xy = 0.0, xx = 0.0, yy = 0.0;
  for (std::int64_t row = 0; row < kSize; ++row) {
    for (std::int64_t column = kSize / 4; column < kSize; ++column) {
      const float* p = fine.data() + 2 * row * 2 * kSize + 2 * column;
      const double x = 0.25 * (p[0] + p[1] + p[2 * kSize] + p[2 * kSize + 1]) - 2.0;
      const double y = coarse[static_cast<std::size_t>(row * kSize + column)] - 2.0;
      xy += x * y;
      xx += x * x;
      yy += y * y;
    }
  }
  EXPECT_GT(xy / std::sqrt(xx * yy), 0.6);
}

// Compares with golden values for images large enough to show fine detail. The floats are the same on every machine.
TEST(FineStructure, is_the_golden_one) {
  Canvas canvas = half_body(300);
  for (std::size_t i = 0; i < canvas.planes.air.size(); i += 3) canvas.planes.air[i] = 50.0F;
  std::vector<float> signal(canvas.planes.body.size(), 2.0F);
  add_fine_structure(signal, canvas, 0xfedcba9876543210);
  blur_as_detector(signal, canvas, 0xfedcba9876543210);
  EXPECT_EQ(io::sha256_hex(std::as_bytes(std::span(signal))),
            "b78aecba125573b478d54f1734132240fac70c9ed06f50902ed9247ebfd74518");
}

TEST(DetectorBlur, makes_neighbours_alike_and_keeps_the_mean) {
  const Canvas canvas(1024, kPose);
  std::vector<float> signal(canvas.planes.body.size());
  Random random(3, RandomStage::Test);
  for (float& value : signal) value = static_cast<float>(random.uniform());
  const double before = spread(signal), mean = std::accumulate(signal.begin(), signal.end(), 0.0);
  blur_as_detector(signal, canvas, 5);
  EXPECT_LT(spread(signal), 0.97 * before);
  EXPECT_GT(spread(signal), 0.3 * before);
  EXPECT_NEAR(std::accumulate(signal.begin(), signal.end(), 0.0) / mean, 1.0, 1e-3);
  std::vector<float> flat(signal.size(), 0.75F);
  blur_as_detector(flat, canvas, 5);
  for (const float value : flat) ASSERT_NEAR(value, 0.75F, 1e-5F);
}

}  // namespace
}  // namespace roentgen::synth
