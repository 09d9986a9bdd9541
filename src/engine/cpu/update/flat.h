// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Loops over flat memory by a team of threads, in chunks whose boundaries do not depend on the team.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace roentgen::engine::cpu {

/// Number of elements in a chunk: 64 KiB of floats, large enough to hide scheduling, small enough to balance the load.
inline constexpr std::int64_t kChunkElements = 1 << 14;

/// Calls body(begin, end) for the chunks of [0, count), on up to `threads` OpenMP threads.
template <typename Body>
void for_chunks(std::int64_t count, int threads, const Body& body) {
  const std::int64_t chunks = (count + kChunkElements - 1) / kChunkElements;
  const int team = static_cast<int>(std::min<std::int64_t>(threads, chunks));
#pragma omp parallel for schedule(static) num_threads(team) if (team > 1)
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
    const std::int64_t begin = chunk * kChunkElements;
    body(begin, std::min(begin + kChunkElements, count));
  }
}

/// Sum of squares in double, equal for every team size. NaN or infinite if an element is.
[[nodiscard]] double sum_of_squares(std::span<const float> values, int threads);

}  // namespace roentgen::engine::cpu
