// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Splits that the names of several tables state: train.csv, valid.csv, test.csv. For src/data/source only.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/source/dataset.h"

namespace roentgen::data {

/// Splits of several tables.
struct TableSplits {
  std::vector<Split> splits{};       ///< split of each table; None: the name states none, or it is not used
  std::string origin{};              ///< value for Listing::given_splits; empty: no split from names is used
  std::vector<std::string> notes{};  ///< notes for the user
};

/// Derives the splits from the names of tables, or of their folders below the root. Names are ignored with
/// data.split=random, with split lists, for a single table, and if no name states a split or all state the same. Throws
/// DataError if some names state one split and others none or several, because random splits could put test rows into
/// train.
[[nodiscard]] TableSplits table_splits(const std::vector<std::filesystem::path>& tables, const SourceOptions& options);

}  // namespace roentgen::data
