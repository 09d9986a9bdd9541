// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/mask.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "synth/anatomy.h"
#include "synth/study.h"

namespace roentgen::synth {
namespace {
constexpr std::int64_t kSize = 128;

StudyKey study_of(std::int64_t patient) { return {.seed = 77, .patient = patient, .follow_up = 0}; }

PerFinding<double> only(Finding finding, double severity) {
  PerFinding<double> result{};
  result[static_cast<std::size_t>(finding)] = severity;
  return result;
}

const Mask& of(const PerFinding<Mask>& masks, Finding finding) { return masks[static_cast<std::size_t>(finding)]; }

double area_share(const Mask& mask) {
  return static_cast<double>(std::ranges::count(mask, 255)) / static_cast<double>(mask.size());
}

TEST(Mask, is_there_for_findings_that_are_and_for_no_other) {
  for (int finding = 0; finding < kFindingCount; ++finding) {
    const auto masks = masks_of(study_of(3), kSize, {.severity = only(static_cast<Finding>(finding), 0.8)});
    for (int i = 0; i < kFindingCount; ++i) {
      EXPECT_EQ(masks[static_cast<std::size_t>(i)].empty(), i != finding) << kFindingNames[static_cast<std::size_t>(i)];
    }
  }
  for (const Mask& mask : masks_of(study_of(3), kSize, {})) EXPECT_TRUE(mask.empty());
}

TEST(Mask, covers_a_share_of_the_image_that_the_finding_can_have) {
  for (int i = 0; i < kFindingCount; ++i) {
    for (std::int64_t patient = 1; patient <= 4; ++patient) {
      const auto masks = masks_of(study_of(patient), kSize, {.severity = only(static_cast<Finding>(i), 0.6)});
      const double share = area_share(masks[static_cast<std::size_t>(i)]);
      EXPECT_GT(share, 0.0005) << kFindingNames[static_cast<std::size_t>(i)];
      EXPECT_LT(share, 0.65) << kFindingNames[static_cast<std::size_t>(i)];
    }
  }
}

// The mask of a sphere in air is a disc. Its edge lies where the path length through the sphere falls to the threshold.
TEST(Mask, of_a_nodule_lies_in_its_box_and_fills_most_of_it) {
  int judged = 0;
  for (std::int64_t patient = 1; patient <= 40; ++patient) {
    const PerFinding<double> severity = only(Finding::Nodule, 0.4);
    const Study study = render_with(study_of(patient), kSize, severity);
    const PixelRect box = study.boxes[static_cast<std::size_t>(Finding::Nodule)];
    const auto masks = masks_of(study_of(patient), kSize, {.severity = severity});
    const Mask& mask = of(masks, Finding::Nodule);
    ASSERT_FALSE(mask.empty());
    std::int64_t inside = 0;
    for (std::int64_t i = 0; i < kSize * kSize; ++i) {
      if (mask[static_cast<std::size_t>(i)] == 0) continue;
      const std::int64_t row = i / kSize, column = i % kSize;
      ASSERT_TRUE(row >= box.top && row < box.bottom && column >= box.left && column < box.right);
      ++inside;
    }
    const std::int64_t width = box.right - box.left, height = box.bottom - box.top;
    if (width > 12 || height > 12) continue;  // more than one nodule
    ++judged;
    EXPECT_GT(static_cast<double>(inside), 0.5 * static_cast<double>(width * height)) << patient;
  }
  EXPECT_GT(judged, 4);
}

TEST(Mask, of_a_large_heart_is_all_its_shadow) {
  const PerFinding<double> severity = only(Finding::Cardiomegaly, 0.8);
  LaidStudy laid = lay_study(study_of(2), kSize, {.severity = severity});
  const auto masks = masks_of(study_of(2), kSize, {.severity = severity});
  const Mask& mask = of(masks, Finding::Cardiomegaly);
  std::int64_t outside = 0, shadow = 0;
  laid.canvas.for_each(heart_shape(laid.chest), [&](std::size_t px, float, float, float, float) {
    ++shadow;
    outside += mask[px] == 0 ? 1 : 0;
  });
  EXPECT_GT(shadow, 500);
  EXPECT_EQ(outside, 0);
}

TEST(Mask, grows_with_the_severity_of_an_effusion) {
  for (std::int64_t patient = 1; patient <= 5; ++patient) {
    const auto small = masks_of(study_of(patient), kSize, {.severity = only(Finding::Effusion, 0.2)});
    const auto large = masks_of(study_of(patient), kSize, {.severity = only(Finding::Effusion, 1.0)});
    EXPECT_GT(area_share(of(large, Finding::Effusion)), 1.5 * area_share(of(small, Finding::Effusion)));
  }
}

// If two findings overlap, the mask of the second contains only the pixels that it changes.
TEST(Mask, is_what_vanishes_when_the_finding_alone_is_taken_out) {
  PerFinding<double> both = only(Finding::Effusion, 1.0);
  both[static_cast<std::size_t>(Finding::Nodule)] = 0.5;
  const auto masks = masks_of(study_of(8), kSize, {.severity = both});
  const auto alone = masks_of(study_of(8), kSize, {.severity = only(Finding::Nodule, 0.5)});
  const Mask& nodule = of(masks, Finding::Nodule);
  EXPECT_LE(area_share(nodule), area_share(of(alone, Finding::Nodule)));
}

// Atelectasis raises the diaphragm of the lung in which the mass lies.
TEST(Mask, of_one_finding_leaves_others_where_they_are) {
  const PerFinding<double> mass = only(Finding::Mass, 0.8);
  for (std::int64_t patient = 1; patient <= 6; ++patient) {
    PerFinding<double> both = mass;
    both[static_cast<std::size_t>(Finding::Atelectasis)] = 0.9;
    const LaidStudy with = lay_study(study_of(patient), kSize, {.severity = both});
    const LaidStudy without = lay_study(study_of(patient), kSize, {.severity = both}, Finding::Atelectasis);
    const auto place = static_cast<std::size_t>(Finding::Mass);
    EXPECT_EQ(with.boxes[place].top, without.boxes[place].top);
    EXPECT_EQ(with.boxes[place].bottom, without.boxes[place].bottom);
    EXPECT_TRUE(without.boxes[static_cast<std::size_t>(Finding::Atelectasis)].empty());
  }
}

}  // namespace
}  // namespace roentgen::synth
