// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Texts for command lines that lack a command or its options.
#pragma once

#include <string>

#include "cli/command.h"

namespace roentgen::cli {

/// Text printed for an empty command line: the steps from a folder of images to a trained model.
[[nodiscard]] std::string first_steps();
/// Text printed for a command that lacks the options it needs: its most common command lines.
[[nodiscard]] std::string first_lines(const Command& command);

}  // namespace roentgen::cli
