// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/leak.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/error.h"

namespace roentgen::eval {
namespace {

using Hashes = std::vector<std::string>;

// Counts the overlap for patients whose id has only one spelling.
PatientOverlap overlap_of(const Hashes& training, const Hashes& test) {
  std::vector<TestPatient> patients;
  for (const std::string& hash : test) patients.push_back({.same = std::span(&hash, 1), .zeros = {}});
  return patient_overlap(training, patients);
}

TEST(Leak, counts_distinct_patients_and_those_in_both) {
  const PatientOverlap overlap = overlap_of(Hashes{"aa", "bb", "aa", "cc"}, Hashes{"cc", "dd", "aa"});
  EXPECT_EQ(overlap.training, 3);
  EXPECT_EQ(overlap.test, 3);
  EXPECT_EQ(overlap.shared, 2);
}

TEST(Leak, tries_all_spellings_of_a_patient_and_tells_leading_zeros_apart) {
  const Hashes training{"aa", "bb"}, same{"xx", "aa"}, other{"cc"}, zeros{"bb", "dd"}, none{};
  const std::vector<TestPatient> patients{{same, none}, {other, zeros}, {other, none}, {same, zeros}};
  const PatientOverlap overlap = patient_overlap(training, patients);
  EXPECT_EQ(overlap.test, 4);
  EXPECT_EQ(overlap.shared, 2);
  EXPECT_EQ(overlap.similar, 1);
  EXPECT_NE(similar_patients_text(overlap).find("1 of 4 test patients"), std::string::npos);
  EXPECT_EQ(similar_patients_text({.training = 2, .test = 1}), "");
}

TEST(Leak, is_refused_in_one_line_without_naming_a_hash) {
  const PatientOverlap overlap = overlap_of(Hashes{"aa", "bb"}, Hashes{"bb"});
  EXPECT_EQ(leak_text(overlap),
            "[eval.leak] test set: expected no patient of the training set, got 1 of 1 test patient among the 2 "
            "training patients; try the data split of the training, or --allow-overlap to compute the metrics anyway");
}

TEST(Leak, check_says_what_was_compared) {
  const PatientOverlap overlap = overlap_of(Hashes{"aa", "bb"}, Hashes{"cc"});
  EXPECT_EQ(clean_check_text(overlap, 0), "leak check: none of 1 patient is among the 2 trained on");
  EXPECT_EQ(clean_check_text(overlap, 3),
            "leak check: none of 1 patient is among the 2 trained on; 3 images of unknown patient were not checked");
}

TEST(Leak, check_that_could_not_be_made_says_why) {
  EXPECT_EQ(clean_check_text(overlap_of(Hashes{}, Hashes{"bb"}), 0),
            "leak check: not made, since the checkpoint knows none of the patients it was trained on");
  EXPECT_EQ(clean_check_text(overlap_of(Hashes{"aa"}, Hashes{}), 5),
            "leak check: not made, since no image of this split has a known patient");
}

TEST(Leak, is_absent_between_disjoint_and_empty_sets) {
  EXPECT_EQ(leak_text(overlap_of(Hashes{}, Hashes{"bb"})), "");
  EXPECT_EQ(leak_text(overlap_of(Hashes{}, Hashes{})), "");
  EXPECT_EQ(leak_text(overlap_of(Hashes{"aa"}, Hashes{"bb"})), "");
}

TEST(PixelLeak, counts_images_with_the_pixels_of_trained_ones) {
  const std::vector<std::string> training{"aa", "bb", "cc"};
  const std::vector<std::string> test{"bb", "bb", "dd", ""};
  const PixelOverlap overlap = pixel_overlap(training, test);
  EXPECT_EQ(overlap.training, 3);
  EXPECT_EQ(overlap.test, 4);
  EXPECT_EQ(overlap.shared, 2);
  EXPECT_NE(pixel_leak_text(overlap).find("got 2 of 4 test images with the pixels of one of the 3 training images"),
            std::string::npos);
  const std::vector<std::string> blank{""};
  EXPECT_EQ(pixel_overlap(blank, test).shared, 0);
  EXPECT_EQ(pixel_leak_text(pixel_overlap(training, blank)), "");
  EXPECT_EQ(clean_pixels_text(pixel_overlap(training, blank)),
            "pixel check: none of 1 image has the pixels of one of the 3 trained on");
  EXPECT_NE(clean_pixels_text(pixel_overlap({}, test)).find("not made"), std::string::npos);
}

}  // namespace
}  // namespace roentgen::eval
