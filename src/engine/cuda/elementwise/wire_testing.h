// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks the kernels of wire.h against loops in float32, on any device.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "engine/cuda/elementwise/wire.h"
#include "engine/cuda/kernel_testing.h"

namespace roentgen::engine::cuda {
namespace wire_testing {

/// Division of a bucket among ranks, computed value by value.
struct Division {
  std::size_t count = 0;
  runtime::RankShares shares;

  /// Returns the indices of a rank's values in the bucket, in order.
  [[nodiscard]] std::vector<std::size_t> of_rank(int rank) const {
    std::vector<std::size_t> indices;
    const auto ranks = static_cast<std::size_t>(shares.ranks), number = static_cast<std::size_t>(rank);
    for (std::size_t begin = 0; begin < count; begin += shares.segment) {
      const std::size_t size = std::min(shares.segment, count - begin);
      for (std::size_t i = size * number / ranks; i < size * (number + 1) / ranks; ++i) indices.push_back(begin + i);
    }
    return indices;
  }
};

/// One segment; several with a shorter last one, of more than one block; and segments with fewer values than ranks.
inline std::vector<Division> divisions(int ranks) {
  return {{1003, {.segment = 5000, .ranks = ranks, .stride = 1008}},
          {4500, {.segment = 2100, .ranks = ranks, .stride = 4504}},
          {10, {.segment = 3, .ranks = ranks, .stride = 16}}};
}

inline void check_mean(runtime::Device& device, DType wire, const Division& division, int rank, Worst& worst) {
  const auto stream = device.make_stream();
  const int ranks = division.shares.ranks;
  const std::size_t stride = division.shares.stride;
  const std::vector<std::size_t> indices = division.of_rank(rank);
  const std::vector<float> bucket = random_values(DType::F32, division.count, 21, 0.1F, 3.0F);
  const std::vector<float> received = random_values(wire, static_cast<std::size_t>(ranks - 1) * stride, 22, 0.1F, 3.0F);
  const DeviceArray<float> on_bucket(device, *stream, bucket);
  const DeviceArray<std::byte> on_received(device, *stream, encoded(wire, received));
  const DeviceArray<std::byte> mean(device, *stream, indices.size() * size_of(wire));
  const float factor = 1.0F / static_cast<float>(ranks);
  wire_kernels().mean_of_ranks(*stream,
                               {.wire = wire,
                                .bucket = {on_bucket.get(), bucket.size()},
                                .shares = division.shares,
                                .rank = rank,
                                .received = {reinterpret_cast<std::uint16_t*>(on_received.get()), received.size()},
                                .factor = factor,
                                .mean = {reinterpret_cast<std::uint16_t*>(mean.get()), indices.size()}});
  const std::vector<float> got = decoded(wire, mean.read());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    std::vector<float> terms;
    for (int other = 0; other + 1 < ranks; ++other) {
      terms.push_back(received[static_cast<std::size_t>(other) * stride + i]);
    }
    terms.insert(terms.begin() + rank, bucket[indices[i]]);
    float sum = terms[0];
    for (std::size_t term = 1; term < terms.size(); ++term) sum += terms[term];
    worst.add("mean of ranks", i, got[i], rounded_to(wire, sum * factor), 0.0);
  }
}

inline void check_conversions(runtime::Device& device, DType wire, const Division& division, Worst& worst) {
  const auto stream = device.make_stream();
  const runtime::RankShares& shares = division.shares;
  std::vector<float> values = random_values(DType::F32, division.count, 23);
  values[0] = 7e4F;    // infinite in f16
  values[1] = -3e-8F;  // below the smallest number of f16, but above half of it
  const DeviceArray<float> src(device, *stream, values), wide(device, *stream, division.count);
  const std::size_t room = static_cast<std::size_t>(shares.ranks) * shares.stride;
  const DeviceArray<std::byte> halves(device, *stream, room * size_of(wire));
  const runtime::DeviceSpan<std::uint16_t> span{reinterpret_cast<std::uint16_t*>(halves.get()), room};
  wire_kernels().narrow(*stream, wire, {src.get(), division.count}, span, shares);
  wire_kernels().widen(*stream, wire, span, {wide.get(), division.count}, shares);
  const std::vector<float> by_ranks = decoded(wire, halves.read()), got = wide.read();
  const auto check = [&](std::string_view what, std::size_t i, float value, float wanted) {
    worst.add(std::string(what), i, value == rounded_to(wire, wanted) ? 0.0 : 1.0, 0.0, 0.0);
  };
  for (int rank = 0; rank < shares.ranks; ++rank) {
    const std::vector<std::size_t> indices = division.of_rank(rank);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      check("order of ranks", i, by_ranks[static_cast<std::size_t>(rank) * shares.stride + i], values[indices[i]]);
    }
  }
  for (std::size_t i = 0; i < division.count; ++i) check("to 16 bits and back", i, got[i], values[i]);
}

}  // namespace wire_testing

/// Checks means for every place of this rank among one, two and five ranks, and both conversions, in bf16 and f16.
[[nodiscard]] inline Worst check_wire(runtime::Device& device) {
  Worst worst;
  for (const DType wire : {DType::Bf16, DType::F16}) {
    for (const int ranks : {1, 2, 5}) {
      for (const wire_testing::Division& division : wire_testing::divisions(ranks)) {
        wire_testing::check_conversions(device, wire, division, worst);
        for (int rank = 0; rank < ranks; ++rank) wire_testing::check_mean(device, wire, division, rank, worst);
      }
    }
  }
  return worst;
}

}  // namespace roentgen::engine::cuda
