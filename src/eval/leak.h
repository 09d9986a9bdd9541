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

/// Reaction to a test set with patients or images from the training data.
enum class OnOverlap : std::uint8_t { Refuse, Warn };

/// Numbers of distinct patients in the training data, in the test set, and in both.
struct PatientOverlap {
  std::int64_t training = 0;  ///< distinct training patients
  std::int64_t test = 0;      ///< distinct test patients
  std::int64_t shared = 0;    ///< patients in both
  /// Number of test patients that match a training patient only if leading zeros of the patient number are ignored.
  std::int64_t similar = 0;
};

/// Hashes of one test patient.
struct TestPatient {
  /// Hashes of all spellings of this patient's id.
  std::span<const std::string> same;
  /// Hashes of ids that differ from this patient's id only in leading zeros.
  std::span<const std::string> zeros;
};

/// Counts the patients in both sets. A test patient counts once, if any spelling of the id matches. All hashes must use
/// the same salt and patient namespace.
[[nodiscard]] PatientOverlap patient_overlap(std::span<const std::string> training_hashes,
                                             std::span<const TestPatient> test_patients);

/// One line with the number of test patients whose id differs from a training patient's only in leading zeros; empty if
/// there is none.
[[nodiscard]] std::string similar_patients_text(const PatientOverlap& overlap);

/// One line with the error that test patients were trained on, and how many, in the form of error_text(). Empty if no
/// patient is in both sets.
[[nodiscard]] std::string leak_text(const PatientOverlap& overlap);

/// One line for a check that found no patient in both sets: how many patients were compared, or why the check was
/// impossible.
/// @param unknown_images number of test images whose patient is unknown
[[nodiscard]] std::string clean_check_text(const PatientOverlap& overlap, std::int64_t unknown_images);

/// Numbers of images in the training data and in the test set, and how many test images have the pixels of a training
/// image.
struct PixelOverlap {
  std::int64_t training = 0;  ///< number of distinct training images
  std::int64_t test = 0;      ///< number of test images
  std::int64_t shared = 0;    ///< number of test images that were trained on
};

/// Counts the test images whose pixel hash is among the training hashes. Empty hashes (blank images) match nothing.
[[nodiscard]] PixelOverlap pixel_overlap(std::span<const std::string> training_hashes,
                                         std::span<const std::string> test_hashes);

/// One line with the error that test images were trained on, in the form of leak_text(); empty if none were.
[[nodiscard]] std::string pixel_leak_text(const PixelOverlap& overlap);
/// One line for a check that found no common image, in the form of clean_check_text().
[[nodiscard]] std::string clean_pixels_text(const PixelOverlap& overlap);

}  // namespace roentgen::eval
