// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Splits that the names of several tables say: train.csv, valid.csv, test.csv. For src/data/source only.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/source/dataset.h"

namespace roentgen::data {

/// Split of each of several tables.
struct TableSplits {
  std::vector<Split> splits{};       ///< one for each table; None: the name says no split that counts
  std::string origin{};              ///< value for Listing::given_splits; empty: the names say nothing that counts
  std::vector<std::string> notes{};  ///< sentences
};

/// Reads the splits from the names of tables, or of their folders below the root. The split is drawn instead with
/// data.split=random, with split lists, for one table, and when no name gives a split or all give the same. Throws
/// DataError when some names give one split and others none or several, because test rows could be drawn into train.
[[nodiscard]] TableSplits table_splits(const std::vector<std::filesystem::path>& tables, const SourceOptions& options);

}  // namespace roentgen::data
