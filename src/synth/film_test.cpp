// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/film.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "synth/study.h"

namespace roentgen::synth {
namespace {
using ::testing::HasSubstr;
constexpr std::uint64_t kSeed = 31;
constexpr std::int64_t kSize = 128;
constexpr double kField = 335.0;
constexpr FilmOptions kAll{.markers = 1.0, .inverted = 1.0, .collimated = 1.0};

StudyKey key_of(std::int64_t patient) { return {.seed = kSeed, .patient = patient, .follow_up = 0}; }

Study study(std::int64_t patient, const FilmOptions& film = {}) {
  return render_study(key_of(patient), kSize, {}, film);
}

std::string refusal(const FilmOptions& options) {
  try {
    validate(options);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

TEST(Film, inverted_is_255_less_the_original) {
  for (std::int64_t patient = 1; patient <= 3; ++patient) {
    const Study plain = study(patient), inverted = study(patient, {.inverted = 1.0});
    EXPECT_TRUE(inverted.marks.is_inverted);
    EXPECT_EQ(plain.gray, inverted.gray);
    for (std::size_t i = 0; i < plain.pixels.size(); ++i) ASSERT_EQ(inverted.pixels[i], 255 - plain.pixels[i]);
  }
}

TEST(Film, frame_is_black_outside_and_leaves_the_inside_alone) {
  for (std::int64_t patient = 1; patient <= 5; ++patient) {
    const Study plain = study(patient), framed = study(patient, {.collimated = 1.0});
    const PixelRect open = open_pixels(framed.marks, kSize, kField);
    EXPECT_GT((open.right - open.left) * (open.bottom - open.top), kSize * kSize * 7 / 10);
    EXPECT_LT((open.right - open.left) * (open.bottom - open.top), kSize * kSize);
    for (std::int64_t row = 0; row < kSize; ++row) {
      for (std::int64_t column = 0; column < kSize; ++column) {
        const auto i = static_cast<std::size_t>(row * kSize + column);
        const bool is_open = row >= open.top && row < open.bottom && column >= open.left && column < open.right;
        ASSERT_EQ(framed.pixels[i], is_open ? plain.pixels[i] : 0) << row << " " << column;
      }
    }
  }
}

TEST(Film, boxes_end_at_the_frame) {
  PerFinding<double> all{};
  all.fill(0.9);
  int shorter = 0;
  for (std::int64_t patient = 1; patient <= 10; ++patient) {
    const Study plain = render_with(key_of(patient), kSize, all);
    const Study framed = render_with(key_of(patient), kSize, all, {.collimated = 1.0});
    const PixelRect open = open_pixels(framed.marks, kSize, framed.pixel_mm * kSize);
    for (std::size_t i = 0; i < plain.boxes.size(); ++i) {
      const PixelRect& box = framed.boxes[i];
      if (box.empty()) continue;
      EXPECT_GE(box.left, std::max(open.left, plain.boxes[i].left));
      EXPECT_GE(box.top, open.top);
      EXPECT_LE(box.right, open.right);
      EXPECT_LE(box.bottom, std::min(open.bottom, plain.boxes[i].bottom));
      shorter +=
          box.left != plain.boxes[i].left || box.right != plain.boxes[i].right || box.bottom != plain.boxes[i].bottom;
    }
  }
  EXPECT_GT(shorter, 0);
}

TEST(Film, masks_are_empty_under_the_frame) {
  std::vector<std::uint8_t> mask(36, 255);
  close(mask, {1, 2, 5, 6}, 6);
  EXPECT_EQ(std::ranges::count(mask, 255), 16);
  EXPECT_EQ(mask[2 * 6 + 1], 255);
  EXPECT_EQ(mask[2 * 6 + 5], 0);
}

// The letter brightens only the pixels that it covers.
TEST(Film, marker_lies_at_its_side_and_changes_nothing_elsewhere) {
  int left = 0, right = 0;
  for (std::int64_t patient = 1; patient <= 12; ++patient) {
    const Study plain = study(patient), marked = study(patient, {.markers = 1.0});
    ASSERT_TRUE(marked.marks.marker.has_value());
    const Marker& marker = *marked.marks.marker;
    EXPECT_EQ(marker.letter == 'L', marker.center_x_mm > kField / 2) << "the patient's left is the image's right";
    (marker.letter == 'L' ? left : right) += 1;
    double covered_mm2 = 0.0;
    const double pixel_mm = kField / kSize;
    for (std::int64_t i = 0; i < kSize * kSize; ++i) {
      const auto at = static_cast<std::size_t>(i);
      ASSERT_GE(marked.gray[at], plain.gray[at]);
      if (marked.gray[at] == plain.gray[at]) continue;
      const double x_mm = (static_cast<double>(i % kSize) + 0.5) * pixel_mm;
      const double y_mm = (static_cast<double>(i / kSize) + 0.5) * pixel_mm;
      EXPECT_LT(std::abs(x_mm - marker.center_x_mm), marker.height_mm + pixel_mm);
      EXPECT_LT(std::abs(y_mm - marker.center_y_mm), marker.height_mm + pixel_mm);
      covered_mm2 += pixel_mm * pixel_mm * (marked.gray[at] - plain.gray[at]) / (1.0 - plain.gray[at]) / marker.cover;
    }
    // The strokes of an L are together 1.6 letter heights long, the strokes of an R about 3.2; each stroke is 0.16
    // heights wide.
    const double heights2 = covered_mm2 / (marker.height_mm * marker.height_mm);
    EXPECT_GT(heights2, marker.letter == 'L' ? 0.17 : 0.34);
    EXPECT_LT(heights2, marker.letter == 'L' ? 0.40 : 0.75);
  }
  EXPECT_GT(left, 0);
  EXPECT_GT(right, 0);
}

TEST(Film, shares_are_met_and_a_larger_share_only_adds) {
  const FilmOptions some{.markers = 0.3, .inverted = 0.3, .collimated = 0.3};
  const FilmOptions more{.markers = 0.6, .inverted = 0.6, .collimated = 0.6};
  std::array<int, 3> count{};
  int both = 0;
  for (std::int64_t patient = 1; patient <= 2000; ++patient) {
    const FilmMarks a = draw_marks(key_of(patient), some, kField), b = draw_marks(key_of(patient), more, kField);
    count[0] += a.marker ? 1 : 0;
    count[1] += a.is_inverted ? 1 : 0;
    count[2] += a.open ? 1 : 0;
    both += a.is_inverted && a.open ? 1 : 0;
    EXPECT_TRUE(!a.marker || b.marker);
    EXPECT_TRUE(!a.is_inverted || b.is_inverted);
    EXPECT_TRUE(!a.open || b.open);
  }
  for (const int n : count) EXPECT_NEAR(n, 600, 80);  // 4 standard deviations
  EXPECT_NEAR(both, 180, 55) << "switches are drawn apart";
}

TEST(Film, a_switch_does_not_move_what_another_draws) {
  for (std::int64_t patient = 1; patient <= 20; ++patient) {
    const FilmMarks one = draw_marks(key_of(patient), {.collimated = 1.0}, kField);
    const FilmMarks all = draw_marks(key_of(patient), kAll, kField);
    EXPECT_EQ(one.open->left_mm, all.open->left_mm);
    EXPECT_EQ(one.open->bottom_mm, all.open->bottom_mm);
    EXPECT_FALSE(draw_marks(key_of(patient), {}, kField).marker.has_value());
  }
}

TEST(Film, is_a_function_of_the_key_and_shows_at_every_size) {
  const Study once = study(3, kAll), again = study(3, kAll);
  EXPECT_EQ(once.pixels, again.pixels);
  const Study small = render_study(key_of(3), 40, {}, kAll);
  EXPECT_EQ(small.marks.open->left_mm, once.marks.open->left_mm);
  EXPECT_EQ(small.marks.marker->center_x_mm, once.marks.marker->center_x_mm);
}

TEST(Film, values_are_rounded_to_the_nearest) {
  const std::vector<float> gray{0.0F, 0.25F, 0.5F, 1.0F};
  EXPECT_EQ(quantise_8(gray), (std::vector<std::uint8_t>{0, 64, 128, 255}));
  EXPECT_EQ(quantise_16(gray, 4095), (std::vector<std::uint16_t>{0, 1024, 2048, 4095}));
  EXPECT_EQ(quantise_16(gray, 65535, true), (std::vector<std::uint16_t>{65535, 49151, 32767, 0}));
}

TEST(Film, forms_have_names) {
  for (const FormName& entry : kForms) {
    EXPECT_EQ(form_of(entry.name), entry.form);
    EXPECT_EQ(name_of(entry.form), entry.name);
    EXPECT_EQ(extension_of(entry.form), entry.form == Form::Jpeg ? ".jpg" : ".png");
  }
}

TEST(Film, refuses_absurd_options_in_one_line) {
  EXPECT_EQ(refusal({}), "none");
  EXPECT_EQ(refusal({.jpeg_quality = 0}), "[synth.film] quality: expected 1 to 100, got 0; try roentgen synth --help");
  EXPECT_THAT(refusal({.jpeg_quality = 101}), HasSubstr("[synth.film] quality"));
  EXPECT_THAT(refusal({.markers = -0.1}), HasSubstr("[synth.film] markers: expected a share of the images, 0 to 1"));
  EXPECT_THAT(refusal({.inverted = 1.5}), HasSubstr("[synth.film] inverted"));
  EXPECT_THAT(refusal({.collimated = std::nan("")}), HasSubstr("[synth.film] collimated"));
  try {
    (void)form_of("tiff");
    FAIL() << "taken";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "[synth.film] form: expected png8, png16, png12 or jpeg, got 'tiff'; try roentgen synth --help");
  }
}

}  // namespace
}  // namespace roentgen::synth
