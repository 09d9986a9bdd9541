// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The convert.json that `roentgen convert` writes beside what it made: which columns of labels.csv are labels, and how
// many images there are. For src/data/source only.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/source/source.h"

namespace roentgen::data {

/// The labels of such a folder, none where its images have none; nothing where convert did not write it, or what it
/// wrote is no longer readable.
[[nodiscard]] std::optional<std::vector<std::string>> converted_labels(const std::filesystem::path& folder);

/// Compares what `source`, a name of source_list.h, found in a folder that convert wrote with the count in its
/// convert.json: a file that was emptied, or cut behind a whole record, looks sound by itself. DataError where images
/// are missing, or a note where SourceOptions::absent allows it; a note where there are more.
void check_converted_count(const SourceOptions& options, std::string_view source, Listing& listing);

}  // namespace roentgen::data
