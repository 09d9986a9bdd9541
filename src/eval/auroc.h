// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Area under the ROC curve, exact if scores are equal (ties).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "eval/score_counts.h"

namespace roentgen::eval {

/// Samples of one label, sorted by score once. An AUROC in which samples count several times or not at all
/// (multiplicities) then takes O(n). Immutable after construction, so thread-safe.
class RankedScores {
 public:
  /// Sorts the samples in O(n log n). Throws DataError if lengths differ, a score is not finite, or a label is not 0 or
  /// 1.
  /// @param scores (n) finite; a higher score means more likely positive
  /// @param labels (n) 1 = positive, 0 = negative
  /// @param units (n) index of the resampled unit (patient) of each sample; a multiplicity belongs to a unit. If empty,
  /// every sample is a unit.
  RankedScores(std::span<const float> scores, std::span<const std::uint8_t> labels,
               std::span<const std::uint32_t> units = {});

  /// Returns the AUROC with every sample counted once; nullopt if one of the two classes is absent.
  [[nodiscard]] std::optional<double> auroc() const;
  /// Returns the AUROC with sample i counted multiplicity[units[i]] times; nullopt if a class is absent among the
  /// counted samples. `multiplicity` must have an element for every unit. Exact in integers below 2^31 counted samples.
  [[nodiscard]] std::optional<double> auroc(std::span<const std::uint32_t> multiplicity) const;

  /// Returns the number of positives and negatives for each distinct score, every sample counted once.
  [[nodiscard]] ScoreCounts count() const;
  /// Computes the same counts with sample i counted multiplicity[units[i]] times, as in auroc(). Writes them to
  /// `counts`, whose memory is reused. `counts` refers to the scores of this object, which must outlive it. O(n).
  void count(std::span<const std::uint32_t> multiplicity, ScoreCounts& counts) const;

  [[nodiscard]] std::int64_t positives() const { return positives_; }  ///< number of samples with label 1
  /// Number of samples with label 0.
  [[nodiscard]] std::int64_t negatives() const { return static_cast<std::int64_t>(entries_.size()) - positives_; }

 private:
  // Samples in ascending order of scores, each encoded as unit << 2 | is_last_of_equal_scores << 1 | is_positive.
  std::vector<std::uint32_t> entries_;
  // Distinct scores, ascending.
  std::vector<float> scores_;
  std::size_t units_ = 0;
  std::int64_t positives_ = 0;
};

/// AUROC as the Mann-Whitney statistic with mid-ranks (Hanley & McNeil 1982): the share of (positive, negative) pairs
/// in which the positive has the higher score. Ties count one half. Returns nullopt if one of the two classes is
/// absent. Parameters and errors are as in RankedScores. O(n log n).
[[nodiscard]] std::optional<double> auroc(std::span<const float> scores, std::span<const std::uint8_t> labels);

}  // namespace roentgen::eval
