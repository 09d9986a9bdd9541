// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Which study an image belongs to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace roentgen::data {
struct Dataset;
}

namespace roentgen::cli {

/// The study's folder in an image's name: "patient1/study2" of CheXpert's, "p10/p100/s500" of MIMIC's; empty when it is
/// in none called study... or s<number>.
[[nodiscard]] std::string study_folder(std::string_view image);

/// The study of each sample, in their order; empty where it is not known. Taken from the tables that name images and
/// have a column study (StudyID, study_id; NIH's Follow-up #), as "patient/value"; without such a table from the
/// folder. DataError when a table cannot be read any more.
[[nodiscard]] std::vector<std::string> studies_of(const data::Dataset& dataset);

}  // namespace roentgen::cli
