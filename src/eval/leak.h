// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks that no patient is in both training and test. It compares salted hashes, so that patient numbers are never
// compared or printed in the clear.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace roentgen::eval {

/// Treatment of a test set whose patients or images were trained on.
enum class OnOverlap : std::uint8_t { Refuse, Warn };

/// Distinct patients of two sets and how many are in both.
struct PatientOverlap {
  std::int64_t training = 0;  ///< distinct training patients
  std::int64_t test = 0;      ///< distinct test patients
  std::int64_t shared = 0;    ///< patients in both
  /// Test patients who match only without leading zeros of their number.
  std::int64_t similar = 0;
};

/// Hashes of one test patient.
struct TestPatient {
  /// Hashes of all spellings of this id.
  std::span<const std::string> same;
  /// Hashes of numbers that differ from this id in leading zeros alone.
  std::span<const std::string> zeros;
};

/// Counts the overlap, trying all spellings, each test patient once. Both sets of hashes need one salt and one naming
/// of patients.
[[nodiscard]] PatientOverlap patient_overlap(std::span<const std::string> training_hashes,
                                             std::span<const TestPatient> test_patients);

/// One line that says how many test patients differ from training patients in leading zeros alone; empty for none.
[[nodiscard]] std::string similar_patients_text(const PatientOverlap& overlap);

/// One line that says there is a leak and how large, in the form of error_text(). Empty when nothing is shared.
[[nodiscard]] std::string leak_text(const PatientOverlap& overlap);

/// One line for a check that found no patient in both sets: how many were compared, or why the check was not possible.
/// @param unknown_images images of the tested set whose patient is unknown
[[nodiscard]] std::string clean_check_text(const PatientOverlap& overlap, std::int64_t unknown_images);

/// Number of images in a test set, and how many of them have the pixels of a training image.
struct PixelOverlap {
  std::int64_t training = 0;  ///< distinct training images
  std::int64_t test = 0;      ///< test images
  std::int64_t shared = 0;    ///< test images that were trained on
};

/// Counts the overlap. Empty hashes (blank images) match nothing.
[[nodiscard]] PixelOverlap pixel_overlap(std::span<const std::string> training_hashes,
                                         std::span<const std::string> test_hashes);

/// Text of a pixel check, in the form of leak_text() and clean_check_text().
[[nodiscard]] std::string pixel_leak_text(const PixelOverlap& overlap);
/// One line with the number of compared images, or the reason why none were; in the form of clean_check_text().
[[nodiscard]] std::string clean_pixels_text(const PixelOverlap& overlap);

}  // namespace roentgen::eval
