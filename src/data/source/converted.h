// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// What `roentgen convert --to png` says of a folder that it wrote (convert.json), so that its labels.csv is read
// without being told which of its columns are labels. For src/data/source only.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace roentgen::data {

/// The labels of such a folder, none where its images have none; nothing where convert did not write it, or what it
/// wrote is no longer readable.
[[nodiscard]] std::optional<std::vector<std::string>> converted_labels(const std::filesystem::path& folder);

}  // namespace roentgen::data
