// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/film_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "synth/film_testing.h"

namespace roentgen::synth {
namespace {
constexpr std::int64_t kSize = 96;
constexpr int kLevel = 2;

Study study(const FilmOptions& film = {}) {
  return render_study({.seed = 4, .patient = 6, .follow_up = 0}, kSize, {}, film);
}

testing::ReadPng png_of(const Study& study, Form form) {
  return testing::read_png(encode_film(study, {.form = form}, kLevel));
}

TEST(EncodeFilm, holds_8_bits_as_they_are) {
  const Study one = study();
  const testing::ReadPng png = png_of(one, Form::Png8);
  EXPECT_EQ(png.bits, 8);
  EXPECT_EQ(png.significant_bits, 0);
  EXPECT_TRUE(std::ranges::equal(png.samples, one.pixels));
}

// Every format rounds the same curve value, so two formats differ by at most half a step of each.
TEST(EncodeFilm, forms_are_roundings_of_the_same_values) {
  const Study one = study();
  const testing::ReadPng eight = png_of(one, Form::Png8), twelve = png_of(one, Form::Png12);
  const testing::ReadPng sixteen = png_of(one, Form::Png16);
  EXPECT_EQ(sixteen.bits, 16);
  EXPECT_EQ(sixteen.significant_bits, 0);
  EXPECT_EQ(twelve.bits, 16);
  EXPECT_EQ(twelve.significant_bits, 12);
  std::int64_t levels = 0;
  std::vector<bool> seen(65536);
  for (std::size_t i = 0; i < one.gray.size(); ++i) {
    const double wide = sixteen.samples[i] / 65535.0;
    ASSERT_LE(std::abs(eight.samples[i] / 255.0 - wide), 0.5 / 255.0 + 0.5 / 65535.0 + 1e-7) << i;
    ASSERT_LE(std::abs((twelve.samples[i] >> 4) / 4095.0 - wide), 0.5 / 4095.0 + 0.5 / 65535.0 + 1e-7) << i;
    levels += seen[sixteen.samples[i]] ? 0 : 1;
    seen[sixteen.samples[i]] = true;
  }
  EXPECT_GT(levels, 3000) << "16 bits carry more than 8 would";
}

TEST(EncodeFilm, twelve_bits_are_scaled_up_as_the_png_specification_says) {
  EXPECT_EQ(widen_12({0, 1, 255, 256, 4095}), (std::vector<std::uint16_t>{0, 16, 4080, 4097, 65535}));
}

TEST(EncodeFilm, jpeg_is_near_and_nearer_at_higher_quality) {
  const Study one = study();
  const auto error_at = [&one](int quality) {
    const auto back = testing::read_jpeg(encode_film(one, {.form = Form::Jpeg, .jpeg_quality = quality}, kLevel));
    double sum = 0.0;
    for (std::size_t i = 0; i < back.size(); ++i) sum += std::abs(double{1.0} * back[i] - one.pixels[i]);
    return sum / static_cast<double>(back.size());
  };
  EXPECT_LT(error_at(92), 1.5);
  EXPECT_LT(error_at(100), 0.5);
  EXPECT_LT(error_at(92), 0.7 * error_at(50));
}

TEST(EncodeFilm, inverts_every_form) {
  const Study plain = study(), inverted = study({.inverted = 1.0});
  ASSERT_TRUE(inverted.marks.is_inverted);
  for (const auto& [form, white] :
       {std::pair{Form::Png8, 255}, std::pair{Form::Png16, 65535}, std::pair{Form::Png12, 65535}}) {
    const testing::ReadPng before = png_of(plain, form), after = png_of(inverted, form);
    for (std::size_t i = 0; i < before.samples.size(); ++i) {
      ASSERT_EQ(after.samples[i], white - before.samples[i]) << name_of(form);
    }
  }
  const auto jpeg = testing::read_jpeg(encode_film(inverted, {.form = Form::Jpeg, .jpeg_quality = 100}, kLevel));
  double sum = 0.0;
  for (std::size_t i = 0; i < jpeg.size(); ++i) sum += std::abs(255 - jpeg[i] - plain.pixels[i]);
  EXPECT_LT(sum / static_cast<double>(jpeg.size()), 0.5);
}

TEST(EncodeFilm, gives_the_same_bytes_twice) {
  for (const FormName& entry : kForms) {
    EXPECT_EQ(encode_film(study(), {.form = entry.form}, kLevel), encode_film(study(), {.form = entry.form}, kLevel))
        << entry.name;
  }
}

}  // namespace
}  // namespace roentgen::synth
