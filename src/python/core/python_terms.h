// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Texts for users of Python. Errors and notes of all rooms speak of the program's options, whose names Python's
// arguments share.
#pragma once

#include <string>
#include <string_view>

namespace roentgen::python {

/// Replaces the program's options by Python's arguments: "another --data" becomes "another data folder", "--overwrite"
/// overwrite=True, "--set data.csv=FILE" "the setting data.csv=FILE". Removes hints at options without an argument.
/// Keeps command lines that begin with "roentgen".
[[nodiscard]] std::string python_terms(std::string_view whole);

}  // namespace roentgen::python
