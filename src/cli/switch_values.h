// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Switches: options whose value, true or false, may be left out on the command line (Option::is_switch).
#pragma once

#include <string>
#include <vector>

#include "core/option.h"

namespace roentgen::cli {

/// Returns the words of a command line with values for all switches of `options`: "--xla" becomes "--xla=true", and
/// "--noxla" becomes "--xla=false". A switch before a word without a dash keeps this word as its value.
[[nodiscard]] std::vector<std::string> with_switch_values(std::vector<std::string> words,
                                                          const std::vector<Option>& options);

}  // namespace roentgen::cli
