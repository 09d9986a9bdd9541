// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Finds the table that describes the images of a folder, if its column of image files has an unusual name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "data/source/dataset.h"
#include "data/source/table_files.h"

namespace roentgen::task {

/// Sets source.image to the only column whose fields name existing image files, if no dataset reader can read the
/// folder without it. Returns a sentence on the choice; empty if nothing is chosen. Throws DataError if there are
/// several such columns.
[[nodiscard]] std::string choose_image_column(data::SourceOptions& source, data::TableFiles& files);

/// Throws the error for a folder of images without labels.
[[noreturn]] void refuse_unlabelled(const std::filesystem::path& root, std::int64_t images, data::TableFiles& tables);

}  // namespace roentgen::task
