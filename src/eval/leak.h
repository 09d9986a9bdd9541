// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks that no patient is in both training and test set. Only salted hashes are compared, so that patient numbers are
// never stored or printed.
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

/// Returns one line with the number of similar test patients (PatientOverlap::similar); empty if there are none.
[[nodiscard]] std::string similar_patients_text(const PatientOverlap& overlap);

/// Returns one line in the form of error_text() with the number of test patients that are in the training set. Empty if
/// no patient is in both sets.
[[nodiscard]] std::string leak_text(const PatientOverlap& overlap);

/// Returns one line for a check that found no patient in both sets: how many patients were compared, or why the check
/// was impossible.
/// @param unknown_images number of test images whose patient is unknown
[[nodiscard]] std::string clean_check_text(const PatientOverlap& overlap, std::int64_t unknown_images);

/// Numbers of training images and test images, and number of test images with the same pixels as a training image.
struct PixelOverlap {
  std::int64_t training = 0;  ///< number of distinct training images
  std::int64_t test = 0;      ///< number of test images
  std::int64_t shared = 0;    ///< number of test images with the pixels of a training image
};

/// Counts the test images whose pixel hash is among the training hashes. Empty hashes (blank images) match nothing.
[[nodiscard]] PixelOverlap pixel_overlap(std::span<const std::string> training_hashes,
                                         std::span<const std::string> test_hashes);

/// Returns one line in the form of error_text() with the number of test images that are in the training set; empty if
/// there are none.
[[nodiscard]] std::string pixel_leak_text(const PixelOverlap& overlap);
/// Returns one line for a check that found no common image, like clean_check_text().
[[nodiscard]] std::string clean_pixels_text(const PixelOverlap& overlap);

}  // namespace roentgen::eval
