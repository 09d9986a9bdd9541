// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/clock_offset.h"

namespace roentgen::dist {
namespace {

constexpr Phase kPhase{.name = "clocks"};
constexpr int kRounds = 20;

template <typename Plain>
void send(Communicator& group, int to, const Plain& value, std::chrono::milliseconds limit) {
  group.send(std::as_bytes(std::span(&value, 1)), {.rank = to}, kPhase).wait(limit);
}

template <typename Plain>
Plain receive(Communicator& group, int from, std::chrono::milliseconds limit) {
  Plain value{};
  group.receive(std::as_writable_bytes(std::span(&value, 1)), {.rank = from}, kPhase).wait(limit);
  return value;
}

}  // namespace

std::vector<ClockOffset> measure_clock_offsets(Communicator& group, std::span<const int> ranks,
                                               const std::function<std::int64_t()>& now,
                                               std::chrono::milliseconds limit) {
  std::vector<ClockOffset> offsets;
  for (const int rank : ranks) {
    if (group.rank() == rank && rank != 0) {
      for (int round = 0; round < kRounds; ++round) {
        static_cast<void>(receive<std::int64_t>(group, 0, limit));
        send(group, 0, now(), limit);
      }
      return {};
    }
    if (group.rank() != 0) continue;
    ClockOffset best;
    for (int round = 0; round < kRounds && rank != 0; ++round) {
      const std::int64_t before = now();
      send(group, rank, before, limit);
      const auto theirs = receive<std::int64_t>(group, rank, limit);
      const std::int64_t there_and_back = now() - before;
      const std::int64_t error = (there_and_back + 1) / 2;
      if (round == 0 || error < best.error_ns)
        best = {.offset_ns = theirs - before - there_and_back / 2, .error_ns = error};
    }
    offsets.push_back(best);
  }
  return offsets;
}

}  // namespace roentgen::dist
