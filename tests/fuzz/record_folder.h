// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// For targets: a folder with one record file, listed as a data set.
#pragma once

#include <string_view>

#include "tests/fuzz/fuzz.h"

namespace roentgen::fuzz {

/// Lists a folder that holds nothing but `bytes` as `file` by the source of that name, which may refuse them. Gzipped
/// ones are unpacked within the scratch folder.
void list_records(std::string_view source, std::string_view file, Input bytes);

}  // namespace roentgen::fuzz
