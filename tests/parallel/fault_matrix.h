// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Trainings of fault_matrix_slow_test.cpp, and the places where it causes faults. Each executable of that test defines
// its own trainings.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "tests/parallel/fault_injection.h"

namespace roentgen::e2e {

/// A way to train whose faults are tested.
struct Training {
  std::string name;                      ///< in names of tests
  std::vector<std::string> arguments{};  ///< options of train
  int ranks = 2;                         ///< even, so that two hosts have as many
  int servers = 0;                       ///< last ranks, which are parameter servers
  bool is_synchronous = true;            ///< a resumed run makes the bits of an undisturbed one
};

/// Trainings of this executable.
[[nodiscard]] std::vector<Training> trainings();

/// Rank with the fault.
enum class FaultyRank { First, LastWorker, Server };

/// Place of a fault in the work of a rank.
struct Place {
  const char* name;
  FaultyRank rank = FaultyRank::LastWorker;
  const char* step = "5";
  /// Asynchronous workers do not read every number of updates; a server counts gradients.
  const char* async_step = "5+";
};

/// A cell of the fault matrix.
struct FaultCase {
  Training training;
  Fault fault;
  /// True if the ranks do not start together, because the fault comes before they have connected to each other.
  [[nodiscard]] bool prevents_start() const { return fault.place == "start-up" && fault.kind != FaultKind::Terminate; }
  /// True if the fault comes when all results are written, and the ranks only wait for each other.
  [[nodiscard]] bool is_after_work() const { return fault.place == "end"; }
  /// Prints the case in messages of GoogleTest.
  friend void PrintTo(const FaultCase& each, std::ostream* out) {
    *out << name_of(each.fault.kind) << " rank " << each.fault.rank << " of " << each.training.name << " in "
         << each.fault.place;
  }
};

/// One fault in every place of all trainings().
[[nodiscard]] inline std::vector<FaultCase> fault_cases(FaultKind kind) {
  constexpr Place kPlaces[] = {{"start-up", FaultyRank::LastWorker, "any", "any"},
                               {"input"},
                               {"forward"},
                               {"gradient bucket 0"},
                               {"optimizer"},
                               {"server update", FaultyRank::Server, "5", "20+"},
                               {"checkpoint", FaultyRank::First},
                               {"validation", FaultyRank::LastWorker, "any", "any"},
                               {"end", FaultyRank::LastWorker, "any", "any"}};
  std::vector<FaultCase> cases;
  for (const Training& training : trainings()) {
    for (const Place& place : kPlaces) {
      if (place.rank == FaultyRank::Server && training.servers == 0) continue;
      const int last = training.ranks - 1;
      const int ranks[] = {0, last - training.servers, last};  // in the order of FaultyRank
      cases.push_back({.training = training,
                       .fault = {.kind = kind,
                                 .place = place.name,
                                 .step = training.is_synchronous ? place.step : place.async_step,
                                 .ranks = training.ranks,
                                 .rank = ranks[static_cast<int>(place.rank)]}});
    }
  }
  return cases;
}

}  // namespace roentgen::e2e
