// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/update/flat.h"

#include <array>

namespace roentgen::engine::cpu {
namespace {

// Sums in eight independent chains, so that additions overlap. Their order is fixed.
double chunk_sum_of_squares(std::span<const float> values) {
  double lanes[8] = {};
  const std::size_t whole = values.size() / 8 * 8;
  for (std::size_t i = 0; i < whole; i += 8) {
#pragma omp simd
    for (std::size_t lane = 0; lane < 8; ++lane) {
      const auto value = static_cast<double>(values[i + lane]);
      lanes[lane] += value * value;
    }
  }
  for (std::size_t i = whole; i < values.size(); ++i) {
    lanes[i - whole] += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  }
  double sum = 0.0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

}  // namespace

double sum_of_squares(std::span<const float> values, int threads) {
  // Number of chunks whose sums are on the stack, because a step must not allocate. Enough for 16 million values per
  // round.
  constexpr std::int64_t kWaiting = 1024;
  std::array<double, kWaiting> partial;
  double sum = 0.0;
  while (!values.empty()) {
    const std::span<const float> part = values.first(std::min<std::size_t>(values.size(), kWaiting * kChunkElements));
    const auto count = static_cast<std::int64_t>(part.size());
    for_chunks(count, threads, [&](std::int64_t begin, std::int64_t end) {
      partial[static_cast<std::size_t>(begin / kChunkElements)] =
          chunk_sum_of_squares(part.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
    });
    const auto chunks = static_cast<std::size_t>((count + kChunkElements - 1) / kChunkElements);
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) sum += partial[chunk];
    values = values.subspan(part.size());
  }
  return sum;
}

}  // namespace roentgen::engine::cpu
