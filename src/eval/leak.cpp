// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/leak.h"

#include <string_view>
#include <unordered_set>

#include "core/error.h"

namespace roentgen::eval {

PatientOverlap patient_overlap(std::span<const std::string> training_hashes, std::span<const std::string> test_hashes) {
  const std::unordered_set<std::string_view> training(training_hashes.begin(), training_hashes.end());
  const std::unordered_set<std::string_view> test(test_hashes.begin(), test_hashes.end());
  PatientOverlap overlap{.training = std::ssize(training), .test = std::ssize(test)};
  for (const std::string_view hash : test) overlap.shared += training.contains(hash) ? 1 : 0;
  return overlap;
}

std::string leak_text(const PatientOverlap& overlap) {
  if (overlap.shared == 0) return {};
  return error_text("eval.leak", "test set", "no patient the model was trained on",
                    std::to_string(overlap.shared) + " of " + std::to_string(overlap.test) +
                        " test patients among the " + std::to_string(overlap.training) + " training patients",
                    "the split the model was trained with, or --allow-overlap to see the figures all the same");
}

void refuse_leak(const PatientOverlap& overlap) {
  if (overlap.shared > 0) throw DataError(leak_text(overlap));
}

}  // namespace roentgen::eval
