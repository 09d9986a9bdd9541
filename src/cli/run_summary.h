// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Last lines of `roentgen train`: the AUROC of every finding, and the command to run next.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace roentgen::cli {

/// Table of findings with their validation AUROC and, where two or more are defined, the mean. "-": undefined.
/// @param aurocs (label, AUROC), at least one
[[nodiscard]] std::string finding_table(const std::vector<std::pair<std::string, std::optional<double>>>& aurocs);

/// "next: roentgen eval ..." on the test images, or "next: roentgen predict ..." for data without any; one line.
/// @param data folders of --data, as given
[[nodiscard]] std::string next_command(const std::filesystem::path& checkpoint, const std::vector<std::string>& data,
                                       bool has_test_images);

}  // namespace roentgen::cli
