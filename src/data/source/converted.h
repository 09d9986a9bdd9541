// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads convert.json, which `roentgen convert` writes: the names of the labels and the number of images. For
// src/data/source only.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/source/source.h"

namespace roentgen::data {

/// Labels of a folder that `convert --to FORMAT` wrote; empty if its images have no labels. Returns nullopt if another
/// program or another --to wrote the folder, or its convert.json cannot be read.
[[nodiscard]] std::optional<std::vector<std::string>> converted_labels(const std::filesystem::path& folder,
                                                                       std::string_view format);

/// Compares the number of images that a dataset reader found in a folder with the number in its convert.json, if there
/// is one. This detects files that were emptied, or cut between two records, and therefore look valid. If images are
/// missing, throws DataError, or adds a note if SourceOptions::absent allows it. Adds a note if there are more.
/// `source` is a name in source_list.h.
void check_converted_count(const SourceOptions& options, std::string_view source, Listing& listing);

}  // namespace roentgen::data
