// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// bench allreduce: how long averaging a bucket over all ranks takes, by size, way and wire format.
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
  /// Sizes are `least_bytes` and its multiples by powers of 4, up to `most_bytes`, which is one as well.
  std::size_t least_bytes = 4096;
  std::size_t most_bytes = std::size_t{512} << 20U;
  /// Names of dist/reduce/reduce_list.h; empty: all.
  std::vector<std::string> ways{};
  /// Names of dist/reduce/wire.h; empty: all.
  std::vector<std::string> wires{};
  /// Number of buckets of one size in flight, as in training; at least 1.
  std::int64_t in_flight = 1;
  /// Interleaved rounds; at least 1.
  std::int64_t rounds = 5;
  /// Approximate duration of a measurement.
  double measurement_s = 0.02;
};

/// Sizes in bytes, ascending, each a multiple of 4. ConfigError unless 4 <= least <= most.
[[nodiscard]] std::vector<std::size_t> bucket_sizes(std::size_t least_bytes, std::size_t most_bytes);

/// Index of the first element of an answer that is not `factor` times its index modulo 31, up to the rounding of one
/// wire format.
[[nodiscard]] std::optional<std::size_t> first_wrong(std::span<const float> data, double factor, std::string_view wire);

/// Averages in place, without another thread; first checks the answer of every way. Beside them,
/// as way "mpi": MPI's own non-blocking sum, started and polled, without the mean. Every rank calls it and has the same
/// result, a table: case, kind "measured", ranks, hosts, oversubscribed, rounds,
///   in_flight,
///   results  [{bytes, way, wire, us, min_us, max_us, gb_per_s, bus_gb_per_s}]: us is the median over rounds of the
///            slowest rank's time for a bucket; gb_per_s = bytes / time; bus_gb_per_s = that times 2 (n - 1) / n, what
///            each link of the best algorithm carries (NCCL's tests, PERFORMANCE.md); bytes are float32's, whatever
///            travels
///   warnings, program, cpu, ...
/// ConfigError on unknown names and sizes out of range, CommError when a rank is missing or an answer is wrong.
[[nodiscard]] Value run_allreduce(dist::Communicator& group, const AllreduceOptions& options);

}  // namespace roentgen::bench
