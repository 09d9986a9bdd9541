// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Trainings on the CPU: averaging ranks, and parameter servers.
#include "tests/parallel/fault_matrix.h"

namespace roentgen::e2e {

std::vector<Training> trainings() {
  return {{.name = "two_ranks"},
          {.name = "four_ranks", .ranks = 4},
          {.name = "ps", .arguments = {"--update", "ps"}, .ranks = 4, .servers = 1},
          {.name = "async", .arguments = {"--update", "async"}, .ranks = 4, .servers = 1, .is_synchronous = false}};
}

}  // namespace roentgen::e2e
