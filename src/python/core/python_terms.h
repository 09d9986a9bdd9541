// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Rewrites errors and notes for users of Python. The texts name command-line options; Python's arguments have the same
// names.
#pragma once

#include <string>
#include <string_view>

namespace roentgen::python {

/// Replaces command-line options by Python arguments. "another --data" becomes "another data folder", "--overwrite"
/// becomes "overwrite=True", and "--set data.csv=FILE" becomes "the setting data.csv=FILE". Removes hints at options
/// without a Python argument. Keeps command lines that begin with "roentgen".
[[nodiscard]] std::string python_terms(std::string_view whole);

}  // namespace roentgen::python
