// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Results of several seeds of one recipe: every finding's validation AUROC, with mean and standard deviation over
// seeds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/value.h"

namespace roentgen::eval {

/// AUROCs of one run, read from its aucs.csv.
struct SeedAurocs {
  std::int64_t seed = 0;  ///< train.seed of the run
  /// Pairs (label, AUROC); nullopt if undefined.
  std::vector<std::pair<std::string, std::optional<double>>> labels;
};

/// AUROCs of one finding over the seeds.
struct SeedRow {
  std::string label;  ///< name of the finding, or "mean"
  /// AUROCs in the order of the seeds.
  std::vector<std::optional<double>> values;
  /// Mean over seeds; nullopt if any value is undefined.
  std::optional<double> mean;
  /// Sample standard deviation (n - 1); nullopt for one seed.
  std::optional<double> sd;
};

/// AUROCs of all findings over the seeds. The last row, "mean", has each seed's mean over the findings that are defined
/// for all seeds.
struct SeedTable {
  std::vector<std::int64_t> seeds;  ///< seeds in the order of the runs
  std::vector<SeedRow> rows;        ///< one row per finding, then the mean
};

/// Makes the table of at least one run, matching labels by name. Throws DataError if a run has other labels than the
/// first.
[[nodiscard]] SeedTable make_seed_table(const std::vector<SeedAurocs>& runs);

/// Returns a text table for a terminal, with an explanation. Ends with a newline.
[[nodiscard]] std::string to_text(const SeedTable& table);
/// Returns CSV text "label,mean,sd,seed_0,seed_1,...". The mean is the last row; undefined cells are empty.
[[nodiscard]] std::string to_csv(const SeedTable& table);
/// Returns the table for JSON: {label: {"mean", "sd", "values": [...]}}, null if undefined.
[[nodiscard]] Value to_value(const SeedTable& table);

}  // namespace roentgen::eval
