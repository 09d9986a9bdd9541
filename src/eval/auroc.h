// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Area under the ROC curve, exact under ties. Other metrics of the curve (AUPRC, operating points) have files of their
// own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "eval/score_counts.h"

namespace roentgen::eval {

/// Samples of one label in the order of their scores: sorted once, then scored under any multiplicities in O(n).
/// Immutable after construction, so thread-safe.
class RankedScores {
 public:
  /// Sorts. O(n log n). Throws DataError on lengths that differ, a score that is not finite, a label other than 0 and
  /// 1.
  /// @param scores (n) finite; higher means more likely positive
  /// @param labels (n) 1 = positive, 0 = negative
  /// @param units (n) index of the unit (patient) with which each sample is drawn when multiplicities are given; empty:
  ///     every sample is its own unit
  RankedScores(std::span<const float> scores, std::span<const std::uint8_t> labels,
               std::span<const std::uint32_t> units = {});

  /// AUROC with every sample counted once; nothing when one of the two classes is absent.
  [[nodiscard]] std::optional<double> auroc() const;
  /// AUROC with sample i counted multiplicity[units[i]] times; nothing when a class is absent under these counts.
  /// multiplicity must cover the largest unit. Exact in integers while fewer than 2^31 samples are counted.
  [[nodiscard]] std::optional<double> auroc(std::span<const std::uint32_t> multiplicity) const;

  /// Samples by distinct score, every sample counted once.
  [[nodiscard]] ScoreCounts count() const;
  /// Samples by distinct score under these counts, into `counts`, whose memory is used again. It borrows the scores
  /// from this object. As auroc() for what multiplicity must be. O(n).
  void count(std::span<const std::uint32_t> multiplicity, ScoreCounts& counts) const;

  [[nodiscard]] std::int64_t positives() const { return positives_; }  ///< samples of label 1
  /// Samples of label 0.
  [[nodiscard]] std::int64_t negatives() const { return static_cast<std::int64_t>(entries_.size()) - positives_; }

 private:
  // Entries in ascending order of scores: unit << 2 | (last of its group of equal scores) << 1 | positive.
  std::vector<std::uint32_t> entries_;
  // Distinct, ascending.
  std::vector<float> scores_;
  std::size_t units_ = 0;
  std::int64_t positives_ = 0;
};

/// AUROC as the Mann-Whitney statistic with mid-ranks (Hanley & McNeil 1982). It is the share of (positive, negative)
/// pairs in which the positive scores higher; ties count one half. nullopt when one of the two classes is absent.
/// scores and labels (n), and errors, are those of RankedScores. O(n log n).
[[nodiscard]] std::optional<double> auroc(std::span<const float> scores, std::span<const std::uint8_t> labels);

}  // namespace roentgen::eval
