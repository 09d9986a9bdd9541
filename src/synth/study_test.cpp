// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/study.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "io/sha256.h"
#include "synth/exposure.h"

namespace roentgen::synth {
namespace {
constexpr std::uint64_t kSeed = 12;
constexpr std::int64_t kSize = 96;

PerFinding<double> only(Finding finding, double severity) {
  PerFinding<double> result{};
  result[static_cast<std::size_t>(finding)] = severity;
  return result;
}

StudyKey study_of(std::int64_t patient) { return {.seed = kSeed, .patient = patient, .follow_up = 0}; }

/// Sums of |a - b| inside and outside of a box.
struct Change {
  double inside = 0.0;
  double outside = 0.0;
};
Change change(const Study& a, const Study& b, const PixelRect& box) {
  Change result;
  for (std::int64_t i = 0; i < a.size_px * a.size_px; ++i) {
    const std::int64_t row = i / a.size_px, column = i % a.size_px;
    const bool is_inside = column >= box.left && column < box.right && row >= box.top && row < box.bottom;
    const double d = std::abs(static_cast<int>(a.pixels[static_cast<std::size_t>(i)]) -
                              static_cast<int>(b.pixels[static_cast<std::size_t>(i)]));
    (is_inside ? result.inside : result.outside) += d;
  }
  return result;
}

double mean_gray(const Study& study, const PixelRect& box) {
  double sum = 0.0;
  for (std::int64_t row = box.top; row < box.bottom; ++row) {
    for (std::int64_t column = box.left; column < box.right; ++column) {
      sum += study.pixels[static_cast<std::size_t>(row * study.size_px + column)];
    }
  }
  return sum / static_cast<double>((box.right - box.left) * (box.bottom - box.top));
}

class EachFinding : public ::testing::TestWithParam<int> {
 protected:
  [[nodiscard]] Finding finding() const { return static_cast<Finding>(GetParam()); }
  [[nodiscard]] std::size_t index() const { return static_cast<std::size_t>(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(All, EachFinding, ::testing::Range(0, kFindingCount), [](const auto& instance) {
  return std::string(kFindingNames[static_cast<std::size_t>(instance.param)]);
});

TEST_P(EachFinding, box_lies_inside_the_image_and_over_the_finding) {
  double inside = 0.0, inside_px = 0.0, outside = 0.0, outside_px = 0.0;
  for (std::int64_t patient = 1; patient <= 8; ++patient) {
    SCOPED_TRACE("patient " + std::to_string(patient));
    const Study healthy = render_with(study_of(patient), kSize, {});
    const Study ill = render_with(study_of(patient), kSize, only(finding(), 0.9));
    const PixelRect box = ill.boxes[index()];
    ASSERT_FALSE(box.empty());
    EXPECT_GE(box.left, 0);
    EXPECT_GE(box.top, 0);
    EXPECT_LE(box.right, kSize);
    EXPECT_LE(box.bottom, kSize);
    for (std::size_t i = 0; i < ill.boxes.size(); ++i) {
      if (i != index()) {
        EXPECT_TRUE(ill.boxes[i].empty()) << kFindingNames[i];
      }
    }
    const Change moved = change(healthy, ill, box);
    const double area = static_cast<double>((box.right - box.left) * (box.bottom - box.top));
    inside += moved.inside;
    inside_px += area;
    outside += moved.outside;
    outside_px += static_cast<double>(kSize * kSize) - area;
  }
  // A finding changes every pixel a little, because the gray window depends on the image, but the pixels in its box
  // most.
  EXPECT_GT(inside / inside_px, outside / outside_px);
}

TEST_P(EachFinding, shows_more_the_more_severe_it_is) {
  double mild = 0.0, severe = 0.0;
  for (std::int64_t patient = 1; patient <= 12; ++patient) {
    const Study healthy = render_with(study_of(patient), kSize, {});
    const PixelRect all{0, 0, kSize, kSize};
    mild += change(healthy, render_with(study_of(patient), kSize, only(finding(), 0.2)), all).inside;
    severe += change(healthy, render_with(study_of(patient), kSize, only(finding(), 1.0)), all).inside;
  }
  EXPECT_GT(severe, 1.2 * mild);
}

TEST(Study, effusion_whitens_its_place_and_emphysema_darkens_the_lungs) {
  int whiter = 0, darker = 0;
  for (std::int64_t patient = 1; patient <= 20; ++patient) {
    const Study healthy = render_with(study_of(patient), kSize, {});
    const Study wet = render_with(study_of(patient), kSize, only(Finding::Effusion, 0.8));
    const Study airy = render_with(study_of(patient), kSize, only(Finding::Emphysema, 0.9));
    const PixelRect fluid = wet.boxes[static_cast<std::size_t>(Finding::Effusion)];
    const PixelRect lungs = airy.boxes[static_cast<std::size_t>(Finding::Emphysema)];
    whiter += mean_gray(wet, fluid) > mean_gray(healthy, fluid) ? 1 : 0;
    darker += mean_gray(airy, lungs) < mean_gray(healthy, lungs) ? 1 : 0;
  }
  EXPECT_EQ(whiter, 20);
  EXPECT_GE(darker, 18);  // the gray window depends on the image
}

TEST(Study, is_a_function_of_its_key) {
  const Study once = render_study(study_of(3), 80);
  const Study again = render_study(study_of(3), 80);
  const Study other = render_study({.seed = kSeed, .patient = 3, .follow_up = 1}, 80);
  EXPECT_EQ(once.pixels, again.pixels);
  EXPECT_EQ(once.truth.severity, again.truth.severity);
  EXPECT_NE(once.pixels, other.pixels);
}

TEST(Study, truth_does_not_depend_on_the_size) {
  const Study small = render_study(study_of(7), 32);
  const Study large = render_study(study_of(7), 200);
  EXPECT_EQ(small.truth.severity, large.truth.severity);
  EXPECT_EQ(small.truth.label, large.truth.label);
}

TEST(Study, uses_the_gray_scale) {
  for (std::int64_t patient = 1; patient <= 20; ++patient) {
    const Study study = render_study(study_of(patient), 64);
    const auto [low, high] = std::minmax_element(study.pixels.begin(), study.pixels.end());
    EXPECT_GT(*high - *low, 60) << "patient " << patient;
  }
}

TEST(Study, without_one_finding_is_the_same_study_but_for_it) {
  for (std::int64_t patient = 1; patient <= 6; ++patient) {
    Scene scene{.severity = only(Finding::Mass, 0.9)};
    scene.severity[static_cast<std::size_t>(Finding::Effusion)] = 0.7;
    PerFinding<double> effusion_only = only(Finding::Effusion, 0.7);
    // A mass changes no shape, so removing it gives the study with only the other finding.
    EXPECT_EQ(render_without(study_of(patient), kSize, scene, Finding::Mass).pixels,
              render_with(study_of(patient), kSize, effusion_only).pixels);
    const Study with = render_with(study_of(patient), kSize, scene.severity);
    EXPECT_NE(with.pixels, render_without(study_of(patient), kSize, scene, Finding::Effusion).pixels);
  }
}

TEST(Study, tubes_show_at_the_size_of_the_quickstart_and_at_more) {
  for (const std::int64_t size : {80, 256}) {
    for (std::int64_t patient = 1; patient <= 8; ++patient) {
      const LaidStudy bare = lay_study(study_of(patient), size, {});
      const LaidStudy tubed = lay_study(study_of(patient), size, {.has_tubes = true});
      const auto before = line_integrals(bare.canvas.planes), after = line_integrals(tubed.canvas.planes);
      std::int64_t changed = 0;
      for (std::size_t px = 0; px < before.size(); ++px) {
        EXPECT_GE(after[px], before[px]);
        changed += after[px] > before[px] + 0.04F ? 1 : 0;
      }
      EXPECT_GT(static_cast<double>(changed), 0.005 * static_cast<double>(before.size())) << size;
      EXPECT_LT(static_cast<double>(changed), 0.15 * static_cast<double>(before.size())) << size;
    }
  }
}

// Hashes of the pixels of three studies. They change only if the drawing changes. Mention such a change in the
// changelog, because data sets of the same seed then differ.
TEST(Study, pixels_are_the_golden_ones) {
  const auto hash = [](const Study& study) { return io::sha256_hex(std::as_bytes(std::span(study.pixels))); };
  EXPECT_EQ(hash(render_study({.seed = 1, .patient = 1, .follow_up = 0}, 80)),
            "b09e9d967813438ee14507f443abfb15bf746f816b560fec12a7711ebb40f3e7");
  EXPECT_EQ(hash(render_study({.seed = 1, .patient = 17, .follow_up = 2}, 64)),
            "8838ed55b1a32d962a78ead2c0ab1f34e959779ce24958624ea4ac36c9d3abe5");
  EXPECT_EQ(hash(render_study({.seed = 0xfedcba9876543210, .patient = 99999999, .follow_up = 0}, 131)),
            "750d817a18f674ee5cb8e186bd131ac8e42dcbcf8477b11ed9cca3ad5a6db7fe");
  PerFinding<double> all{};
  all.fill(0.7);
  EXPECT_EQ(hash(render_with({.seed = 2, .patient = 5, .follow_up = 1}, 224, all)),
            "a19e2c3df533c60ce5915e16abc18b7a5ccfc3193cc05ea57adaa432f37626b1");
}

}  // namespace
}  // namespace roentgen::synth
