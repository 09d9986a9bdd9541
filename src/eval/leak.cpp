// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/leak.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "core/error.h"
#include "core/plural.h"

namespace roentgen::eval {

PatientOverlap patient_overlap(std::span<const std::string> training_hashes,
                               std::span<const TestPatient> test_patients) {
  const std::unordered_set<std::string_view> training(training_hashes.begin(), training_hashes.end());
  const auto has_any = [&training](std::span<const std::string> hashes) {
    return std::ranges::any_of(hashes, [&training](const std::string& hash) { return training.contains(hash); });
  };
  PatientOverlap overlap{.training = std::ssize(training), .test = std::ssize(test_patients)};
  for (const TestPatient& patient : test_patients) {
    if (has_any(patient.same)) {
      ++overlap.shared;
    } else if (has_any(patient.zeros)) {
      ++overlap.similar;
    }
  }
  return overlap;
}

std::string similar_patients_text(const PatientOverlap& overlap) {
  if (overlap.similar == 0) return {};
  return "leak check: " + std::to_string(overlap.similar) + " of " + std::to_string(overlap.test) +
         " test patients have the number of a training patient but for leading zeros (as 12 and 0012): if they are the "
         "same people, these figures are too good";
}

std::string leak_text(const PatientOverlap& overlap) {
  if (overlap.shared == 0) return {};
  return error_text("eval.leak", "test set", "no patient of the training set",
                    std::to_string(overlap.shared) + " of " + counted(overlap.test, "test patient") + " among the " +
                        counted(overlap.training, "training patient"),
                    "the data split of the training, or --allow-overlap to compute the metrics anyway");
}

std::string clean_check_text(const PatientOverlap& overlap, std::int64_t unknown_images) {
  if (overlap.training == 0)
    return "leak check: not made, since the checkpoint knows none of the patients it was trained on";
  if (overlap.test == 0) return "leak check: not made, since no image of this split has a known patient";
  std::string text = "leak check: none of " + counted(overlap.test, "patient") + " is among the " +
                     std::to_string(overlap.training) + " trained on";
  if (unknown_images > 0) {
    text += "; " + counted(unknown_images, "image of unknown patient was", "images of unknown patient were") +
            " not checked";
  }
  return text;
}

PixelOverlap pixel_overlap(std::span<const std::string> training_hashes, std::span<const std::string> test_hashes) {
  const std::unordered_set<std::string_view> training(training_hashes.begin(), training_hashes.end());
  PixelOverlap overlap{.training = std::ssize(training), .test = std::ssize(test_hashes)};
  for (const std::string_view hash : test_hashes) overlap.shared += !hash.empty() && training.contains(hash) ? 1 : 0;
  return overlap;
}

std::string pixel_leak_text(const PixelOverlap& overlap) {
  if (overlap.shared == 0) return {};
  return error_text(
      "eval.leak", "test set", "no image of the training set",
      std::to_string(overlap.shared) + " of " + counted(overlap.test, "test image") +
          " with the pixels of one of the " + counted(overlap.training, "training image"),
      "a test set without these images (--list FILE selects images), or --allow-overlap to compute the metrics anyway");
}

std::string clean_pixels_text(const PixelOverlap& overlap) {
  if (overlap.training == 0) return "pixel check: not made, since the checkpoint has no hashes of its training images";
  return "pixel check: none of " + counted(overlap.test, "image") + " has the pixels of one of the " +
         std::to_string(overlap.training) + " trained on";
}

}  // namespace roentgen::eval
