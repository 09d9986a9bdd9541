// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// SweepResult: runs of one recipe with several values of its keys, compared on the same images. Each point is compared
// with the leader, the point with the highest mean AUROC, by the paired intervals of `roentgen compare`.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/value.h"
#include "eval/comparison.h"
#include "score/compared_side.h"

namespace roentgen::score {

/// One point of a sweep.
struct SweepRow {
  std::vector<std::string> values{};  ///< values of the keys, in the order of SweepResult::keys
  std::string folder{};               ///< folder of its run, or of its runs by seed
  std::optional<double> mean{};       ///< mean AUROC over labels and seeds; nullopt if undefined
  std::optional<double> sd{};         ///< standard deviation (n - 1) of the mean AUROC over seeds; nullopt for one seed
  /// Comparison of this point (B) with the leader (A); nullopt for the leader, and if nothing was compared.
  std::optional<eval::Comparison> against_leader{};
  std::string failed{};  ///< reason why a run of this point failed, so that it is not compared; empty if none failed
};

/// Result of a sweep.
struct SweepResult {
  std::vector<std::string> keys{};      ///< swept keys, "section.key"
  std::vector<SweepRow> rows{};         ///< points in the order of the sweep
  std::optional<std::size_t> leader{};  ///< row with the highest mean; nullopt if nothing was compared
  /// True if the intervals of all differences from the leader exclude 0. Not corrected for the number of points: all
  /// intervals must exclude 0, which equal points rarely do.
  bool has_best = false;
  bool covers_seeds = false;  ///< intervals cover seeds and patients; else patients only
  std::string reason{};       ///< reason why there is no best point, or empty
};

/// Compares the points that have not failed, and fills `rows`, `leader`, `has_best`, `covers_seeds` and `reason`.
/// @param sides runs of each of these rows, in the order of `rows`, with the same images and true labels
void compare_points(SweepResult& result, const std::vector<ComparedSide>& sides, const eval::BootstrapOptions& options);

/// Returns a text table for a terminal, and below it the verdict and the failures. Ends with a newline.
[[nodiscard]] std::string to_text(const SweepResult& result);
/// Returns CSV text: a column for each key, then "folder,mean_auroc,sd,difference,low,high,p,failed". Undefined cells
/// are empty.
[[nodiscard]] std::string to_csv(const SweepResult& result);
/// Returns JSON: {"keys", "points", "leader", "best": values or null, "reason", "intervals_cover"}. A point is
/// {"values": {key: text}, "folder", "mean_auroc", "sd", "against_leader", "failed": reason or ""}. "against_leader" is
/// an eval::to_value(), null for the leader.
[[nodiscard]] Value to_value(const SweepResult& result);

}  // namespace roentgen::score
