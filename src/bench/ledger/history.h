// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Regression report between two builds, from records that were measured in alternating rounds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/ledger/record.h"
#include "core/value.h"

namespace roentgen::bench {

/// Builds to compare: begins of commits, as records name them. Empty `to`: the build whose first record is the latest;
/// empty `from`: the latest other build.
struct HistoryOptions {
  std::string from{};
  std::string to{};
};

/// Case name of records of accuracy: results of trained models with the settings data, recipe and seed, and figures
/// such as auroc.
inline constexpr std::string_view kAccuracyCase = "accuracy";

/// Verdict of a report in which every figure has enough rounds or seeds, and none is a regression.
inline constexpr std::string_view kNoRegression = "no regression";

/// Compares two builds. Only records of one host, one case and equal settings are compared.
///
/// Speed: machines drift by more than the differences to find. So only rounds count: two records in a row, one of each
/// build. The logarithms of the ratios of all rounds give an interval by Wilcoxon's signed-rank test. A figure is a
/// regression if its interval lies on the worse side of no difference. All intervals hold together with 98%
/// (Bonferroni: with k figures, each has the level 1 - 0.02 / k). So equal builds give an alarm in 1% of the reports,
/// and two alarms among 20 pairs of equal builds have a probability of 2%.
///
/// Accuracy: runs of equal seeds are pairs. Their differences give an interval by Student's t test, of 98% together.
///
/// Returns a table:
///   from, to      commits
///   rounds_needed smallest number of rounds at which a difference can be found
///   speed         array of {case, host, figure, rounds, ratio, low, high, verdict}; ratio is to / from
///   accuracy      array of {case, figure, seeds, from, to, difference, low, high, verdict}
///   regressions   number of figures with the verdict "regression"
///   verdict       "regression", "too few rounds", "too few seeds" or kNoRegression: the first that applies
///   warnings      array of texts, such as figures with too few rounds
/// verdict of a figure is "regression", "improvement", "no difference", "too few rounds" or "too few seeds". Throws
/// ConfigError for an unknown or ambiguous commit, and if the records are of one build only.
[[nodiscard]] Value history_of(const std::vector<StoredRecord>& records, const HistoryOptions& options);

}  // namespace roentgen::bench
