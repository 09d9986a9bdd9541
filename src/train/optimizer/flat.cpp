// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/optimizer/flat.h"

#include <vector>

#include "core/error.h"

namespace roentgen::train {
namespace {

// Eight chains, so that the adds overlap; their order is fixed.
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
  const auto count = static_cast<std::int64_t>(values.size());
  std::vector<double> partial(static_cast<std::size_t>((count + kChunkElements - 1) / kChunkElements));
  for_chunks(count, threads, [&](std::int64_t begin, std::int64_t end) {
    partial[static_cast<std::size_t>(begin / kChunkElements)] =
        chunk_sum_of_squares(values.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
  });
  double sum = 0.0;
  for (const double part : partial) sum += part;
  return sum;
}

void accumulate(std::span<float> total, std::span<const float> values, int threads) {
  RG_ASSERT(total.size() == values.size());
  float* const dst = total.data();
  const float* const src = values.data();
  for_chunks(static_cast<std::int64_t>(total.size()), threads, [=](std::int64_t begin, std::int64_t end) {
#pragma omp simd
    for (std::int64_t i = begin; i < end; ++i) dst[i] += src[i];
  });
}

}  // namespace roentgen::train
