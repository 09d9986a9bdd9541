// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The truth that `--labels` names, read as `train` and `eval` read it.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "cli/label_table.h"
#include "data/source/dataset.h"

namespace roentgen::cli {

/// Reads a data folder as data::load_dataset() does, or a label table. NIH's tables and those with a column for the
/// images' names are read alone (read_label_table()); tables of CheXpert, MIMIC-CXR-JPG and PadChest in the folder they
/// lie in, with the images, whatever split these are in. So label policies, names of findings, patients, views and
/// studies are those of a checkpoint's evaluation. A folder that the recipe's source cannot list is read as what is
/// found there (load_evaluated()). Labels that the truth lacks are unknown, and named in LabelTable::absent.
/// @param labels (K) of the predictions
/// @param options a recipe's [data]; root, labels and split are not used, nor csv where `path` is a table
/// @param overrides those that `options` has been given, "data.key=value"
/// DataError and ConfigError as these; DataError where the truth has none of the labels.
[[nodiscard]] LabelTable read_truth(const std::filesystem::path& path, const std::vector<std::string>& labels,
                                    data::SourceOptions options, std::span<const std::string> overrides = {});

/// What `--set data.key=value` asks for, without a recipe. ConfigError for any other key, or data.labels, which the
/// predictions say.
[[nodiscard]] data::SourceOptions data_options(std::span<const std::string> overrides);
/// Refuses overrides of other keys than those of [data], and of its labels. ConfigError.
void check_data_overrides(std::span<const std::string> overrides);

}  // namespace roentgen::cli
