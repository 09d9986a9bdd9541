// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `allreduce`: time of averaging a bucket over all ranks, by bucket size, algorithm and wire format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/value.h"
#include "dist/communicator.h"

namespace roentgen::bench {

struct AllreduceOptions {
  /// Bucket sizes are `least_bytes` times powers of 4, up to `most_bytes`, and `most_bytes` itself.
  std::size_t least_bytes = 4096;
  std::size_t most_bytes = std::size_t{512} << 20U;
  /// Names of averaging algorithms (dist/reduce/reduce_list.h); empty: all.
  std::vector<std::string> ways{};
  /// Names of wire formats (dist/reduce/wire.h); empty: all.
  std::vector<std::string> wires{};
  /// Number of buckets of one size that are averaged at the same time, as in training; at least 1.
  std::int64_t in_flight = 1;
  /// Number of interleaved rounds, at least 1.
  std::int64_t rounds = 5;
  /// Approximate duration of one measurement, seconds.
  double measurement_s = 0.02;
};

/// Returns the bucket sizes to measure in bytes, ascending, each a multiple of 4. Throws ConfigError unless 4 <=
/// least_bytes <= most_bytes.
[[nodiscard]] std::vector<std::size_t> bucket_sizes(std::size_t least_bytes, std::size_t most_bytes);

/// Returns the first index i at which `data` differs from factor * (i modulo 31) by more than the rounding of the wire
/// format. Nullopt if there is none.
[[nodiscard]] std::optional<std::size_t> first_wrong(std::span<const float> data, double factor, std::string_view wire);

/// Measures averaging in place, without a communication thread, and checks the result of every algorithm first. Also
/// measures MPI_Iallreduce as algorithm "mpi", which sums but does not divide. Every rank must call it and gets the
/// same result, a table: case, kind "measured", ranks, hosts, oversubscribed, rounds,
///   in_flight,
///   results  [{bytes, way, wire, us, min_us, max_us, gb_per_s, bus_gb_per_s}]: us is the median over rounds of the
///            slowest rank's time for a bucket; gb_per_s = bytes / time; bus_gb_per_s = that times 2 (n - 1) / n, what
///            each link of the best algorithm carries (NCCL's tests, PERFORMANCE.md); bytes are float32's, whatever
///            travels
///   warnings, program, cpu, ...
/// Throws ConfigError for unknown names or sizes out of range, and CommError if a rank is missing or a result is wrong.
[[nodiscard]] Value run_allreduce(dist::Communicator& group, const AllreduceOptions& options);

}  // namespace roentgen::bench
