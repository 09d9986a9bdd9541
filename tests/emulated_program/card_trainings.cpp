// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Trainings on emulated cards: averaged on the cards by NCCL's twin, through the host, and by parameter servers.
#include "tests/emulated_program/emulated_cards.h"
#include "tests/parallel/fault_matrix.h"

namespace roentgen::e2e {

std::vector<Training> trainings() {
  static const EmulatedCards four(4);  // of all programs that this process starts
  return {{.name = "nccl", .arguments = {"--device", "cuda", "--reduce", "nccl"}, .ranks = 4},
          {.name = "through_host", .arguments = {"--device", "cuda", "--reduce", "exchange"}},
          {.name = "ps", .arguments = {"--device", "cuda", "--update", "ps"}, .ranks = 4, .servers = 1},
          {.name = "async",
           .arguments = {"--device", "cuda", "--update", "async"},
           .ranks = 4,
           .servers = 1,
           .is_synchronous = false}};
}

}  // namespace roentgen::e2e
