// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The convert.json that `roentgen convert` writes: the label columns of labels.csv, and the number of images. For
// src/data/source only.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/source/source.h"

namespace roentgen::data {

/// Labels of a folder that convert wrote, empty where its images have none. nullopt where convert did not write the
/// folder, or its record is no longer readable.
[[nodiscard]] std::optional<std::vector<std::string>> converted_labels(const std::filesystem::path& folder);

/// Compares the number of images that `source`, a name of source_list.h, found in a folder written by convert with its
/// convert.json. This detects files that were emptied or cut after a whole record, which look valid. Throws DataError
/// where images are missing, or adds a note where SourceOptions::absent allows it; adds a note where there are more.
void check_converted_count(const SourceOptions& options, std::string_view source, Listing& listing);

}  // namespace roentgen::data
