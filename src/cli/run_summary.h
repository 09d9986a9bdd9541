// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Last lines that `roentgen train` prints: the AUROC of every finding, and the command to run next.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace roentgen::cli {

/// Returns a table of findings with their validation AUROC, and the mean if two or more AUROCs are defined. An
/// undefined AUROC is shown as "-".
/// @param aurocs (label, AUROC), at least one
[[nodiscard]] std::string finding_table(const std::vector<std::pair<std::string, std::optional<double>>>& aurocs);

/// Returns one line with the next command: "next: roentgen eval ..." on the test images, or "next: roentgen predict
/// ..." if the data have no test images.
/// @param data folders of --data, as given
[[nodiscard]] std::string next_command(const std::filesystem::path& checkpoint, const std::vector<std::string>& data,
                                       bool has_test_images);

}  // namespace roentgen::cli
