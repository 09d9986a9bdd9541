// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Helper for fuzz targets: lists a folder with one record file as a data set.
#pragma once

#include <string_view>

#include "tests/fuzz/fuzz.h"

namespace roentgen::fuzz {

/// Lists a folder that contains only `bytes`, as `file`, with the source of that name, which may refuse it. Gzipped
/// files are unpacked in the scratch folder.
void list_records(std::string_view source, std::string_view file, Input bytes);

}  // namespace roentgen::fuzz
