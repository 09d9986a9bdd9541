// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/exposure.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "synth/anatomy.h"
#include "synth/film.h"

namespace roentgen::synth {
namespace {
constexpr std::uint64_t kSeed = 9;

/// Returns planes with a single pixel.
Planes pixel(float body, float air, float density) {
  Planes planes;
  planes.body = {body};
  planes.air = {air};
  planes.density = {density};
  for (auto* plane : {&planes.vessel, &planes.fill, &planes.soft, &planes.gas, &planes.bone}) *plane = {0.0F};
  return planes;
}

/// Returns the exposed image, quantised to 8 bits.
std::vector<std::uint8_t> exposed(const Canvas& canvas, const Exposure& exposure, Random random) {
  return quantise_8(expose(canvas, exposure, random));
}

TEST(LineIntegrals, follow_the_stated_sum) {
  Planes planes = pixel(200.0F, 100.0F, 0.25F);
  planes.fill = {10.0F};
  planes.bone = {5.0F};
  // The ray passes 200 - 100 * 0.75 + 10 mm of tissue and 5 mm of bone.
  EXPECT_NEAR(line_integrals(planes)[0], 0.0195 * 135.0 + 0.030 * 5.0, 1e-5);
}

TEST(LineIntegrals, fluid_cannot_exceed_the_air_it_replaces) {
  Planes planes = pixel(200.0F, 40.0F, 0.25F);
  planes.fill = {500.0F};
  EXPECT_NEAR(line_integrals(planes)[0], 0.0195 * 200.0, 1e-5);
}

TEST(LineIntegrals, gas_cannot_exceed_the_body) {
  Planes planes = pixel(50.0F, 0.0F, 0.0F);
  planes.gas = {500.0F};
  EXPECT_EQ(line_integrals(planes)[0], 0.0F);
}

TEST(Expose, dense_is_white_and_air_is_black) {
  const Chest chest = draw_chest({.seed = kSeed, .patient = 1, .follow_up = 0});
  Canvas canvas(64, Pose{.field_mm = 335.0});
  lay_chest(canvas, chest);
  const auto gray = exposed(canvas, Exposure{}, Random(kSeed, RandomStage::SynthPixels));
  EXPECT_LT(gray[0], 40);                                  // air next to the neck
  EXPECT_GT(gray[55 * 64 + 32], 200);                      // spine and abdomen
  EXPECT_LT(gray[28 * 64 + 18] + 30, gray[28 * 64 + 32]);  // lung compared with mediastinum
}

TEST(Expose, fewer_photons_are_noisier) {
  // Canvas with a uniform slab and one dense stripe, so that the gray window has a range. Pixels of 1.4 mm show no fine
  // structure. With 1/16 of the dose, they get as many photons as NIH's pixels of 0.34 mm.
  Canvas canvas(64, Pose{.field_mm = 88.0});
  for (std::size_t i = 0; i < canvas.planes.body.size(); ++i) canvas.planes.body[i] = i % 64 < 8 ? 200.0F : 120.0F;
  const auto spread = [&](double photons) {
    const auto gray = exposed(canvas, Exposure{.photons_per_mm2 = photons, .scatter_share = 0.0},
                              Random(kSeed, RandomStage::SynthPixels));
    double sum = 0.0, squares = 0.0, n = 0.0;
    for (std::size_t i = 0; i < gray.size(); ++i) {
      if (i % 64 < 30 || i % 64 > 50) continue;
      sum += gray[i];
      squares += static_cast<double>(gray[i]) * gray[i];
      n += 1.0;
    }
    return std::sqrt(squares / n - sum * sum / (n * n));
  };
  EXPECT_GT(spread(1.25e3), 2.0 * spread(6.25e4));
}

TEST(Expose, scatter_hides_what_lies_behind_dense_tissue) {
  // Canvas that is thin on the left and thick on the right, with a still thicker stripe. Scatter reduces the contrast
  // of the stripe relative to the window.
  Canvas canvas(64, Pose{.field_mm = 335.0});
  for (std::size_t i = 0; i < canvas.planes.body.size(); ++i) {
    const std::size_t column = i % 64;
    canvas.planes.body[i] = column < 32 ? 60.0F : (column >= 48 && column < 56 ? 260.0F : 220.0F);
  }
  const auto contrast = [&](double share) {
    const auto gray = exposed(canvas, Exposure{.photons_per_mm2 = 1e9, .scatter_share = share},
                              Random(kSeed, RandomStage::SynthPixels));
    return static_cast<int>(gray[32 * 64 + 51]) - static_cast<int>(gray[32 * 64 + 44]);
  };
  EXPECT_GT(contrast(0.0), 0);
  EXPECT_GT(contrast(0.0), contrast(1.5));
}

}  // namespace
}  // namespace roentgen::synth
