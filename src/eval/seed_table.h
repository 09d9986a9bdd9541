// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Results of several seeds of one recipe: every finding's validation AUROC, its mean and spread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/value.h"

namespace roentgen::eval {

/// AUROCs of one seed, as its run's aucs.csv has them.
struct SeedAurocs {
  std::int64_t seed = 0;  ///< train.seed of the run
  /// (label, value), nothing where undefined.
  std::vector<std::pair<std::string, std::optional<double>>> labels;
};

/// Results of one finding over the seeds.
struct SeedRow {
  std::string label;  ///< name of the finding, or "mean"
  /// Values in the order of the seeds.
  std::vector<std::optional<double>> values;
  /// Mean; nullopt when any value is undefined.
  std::optional<double> mean;
  /// Sample standard deviation (n - 1); nothing for one seed.
  std::optional<double> sd;
};

/// All findings, then as row "mean" each seed's mean over the findings that all seeds define.
struct SeedTable {
  std::vector<std::int64_t> seeds;  ///< seeds in the order of the runs
  std::vector<SeedRow> rows;        ///< a finding each, then the mean
};

/// Matched by label name. DataError when a run has other labels than the first; at least one run.
[[nodiscard]] SeedTable make_seed_table(const std::vector<SeedAurocs>& runs);

/// A table for a terminal, with an explanation. Ends with a newline.
[[nodiscard]] std::string to_text(const SeedTable& table);
/// "label,mean,sd,seed_0,seed_1,...", the mean last; empty where undefined.
[[nodiscard]] std::string to_csv(const SeedTable& table);
/// {label: {"mean", "sd", "values": [...]}}, null where undefined.
[[nodiscard]] Value to_value(const SeedTable& table);

}  // namespace roentgen::eval
