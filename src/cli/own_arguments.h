// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Command line of this process, to start the program again or to store it with a result.
#pragma once

#include <string>
#include <vector>

namespace roentgen::cli {

/// Returns the words of the command line as the kernel stores them. The first one is the absolute path of the program.
[[nodiscard]] std::vector<std::string> own_arguments();

/// Returns the command line to store with a result: own_arguments() with the name of the program, "roentgen". Begins
/// with "mpirun -np N" if mpirun or srun started N processes, above 1.
[[nodiscard]] std::vector<std::string> command_to_repeat();

}  // namespace roentgen::cli
