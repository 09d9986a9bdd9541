// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Predicts the throughput of a cluster from a training step measured on one machine: `roentgen doctor scale`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/emulated_executable.h"
#include "bench/network.h"
#include "core/value.h"

namespace roentgen::bench {

/// Bandwidth and latency of one kind of link.
struct LinkCost {
  double bytes_per_s = 0.0;
  double latency_s = 0.0;
};
/// Parses a bandwidth such as "1Gbit", "100Mbit" or "8GB" (bits or bytes per second, decimal prefixes). Returns bytes
/// per second. Throws ConfigError for other texts.
[[nodiscard]] double parse_bandwidth(std::string_view text);
/// Parses a duration such as "50us", "1ms" or "2s". Returns seconds. Throws ConfigError for other texts.
[[nodiscard]] double parse_duration(std::string_view text);

/// Description of the cluster to predict.
struct Cluster {
  /// Number of ranks on each host; at least 1.
  std::int64_t per_host = 1;
  LinkCost within_host{.bytes_per_s = 8e9, .latency_s = 3e-6};
  LinkCost between_hosts{.bytes_per_s = 125e6, .latency_s = 50e-6};
};

/// Time of averaging one bucket, in seconds.
struct LinkTime {
  /// Time during which the link is occupied.
  double busy_s = 0.0;
  /// Additional time until the last bytes have arrived. The link may already carry other messages.
  double late_s = 0.0;
};
/// Returns the time of averaging `bytes` over `ranks` in a ring, limited by the slowest link. Every rank sends 2 (n -
/// 1) / n of the bytes in 2 (n - 1) messages (Patarasuk and Yuan 2009).
[[nodiscard]] LinkTime allreduce_time(double bytes, std::int64_t ranks, const Cluster& cluster);

/// A training step as measured on one rank.
struct MeasuredStep {
  /// Times of several measured steps, from which the simulation draws.
  std::vector<double> step_s;
  StepCourse course;
  /// Size of each bucket, bytes.
  std::vector<double> bucket_bytes;
};

/// Returns `count` normally distributed step times, ascending: the quantiles at (i + 0.5) / count.
/// @param sd standard deviation as a share of `mean_s`, below 0.3; 0: returns one value
[[nodiscard]] std::vector<double> normal_steps(double mean_s, double sd, std::int64_t count);

/// Simulates `steps` steps of `ranks` ranks that start together, and returns the times of the steps in seconds. Every
/// rank's time is drawn from the measured times. A bucket is sent when it is ready on the slowest rank and the previous
/// bucket has left the links. The step ends when the last bucket has arrived and the slowest rank is done.
/// @param is_overlapped false: buckets are sent only when the slowest rank has finished its backward pass
[[nodiscard]] std::vector<double> simulate_steps(const MeasuredStep& measured, std::int64_t ranks,
                                                 const Cluster& cluster, std::int64_t steps, bool is_overlapped,
                                                 std::uint64_t seed);

struct PredictOptions {
  /// Settings of the measured training steps; `threads` is at least 1, and `steps` is the number of measured steps.
  NetworkOptions step;
  /// Images per second of an emulated device, whose step takes batch / device_images_per_s seconds. 0: no emulated
  /// device.
  double device_images_per_s = 0.0;
  /// Standard deviation of the emulated device's step times, as a share of the mean.
  double device_sd = 0.0;
  double bucket_mb = 4.0;
  bool is_overlapped = true;
  /// Numbers of ranks to predict for, at least one.
  std::vector<std::int64_t> ranks{1, 2, 4, 8};
  Cluster cluster;
};

/// Measures steps on this machine and predicts the throughput for each number of ranks. @return {"points": [{"ranks",
/// "hosts", "batch", "images_per_s", "efficiency" (relative to one rank), "step_ms", "compute_ms" (of the slowest
/// rank), "comm_ms" (all buckets without overlap), "kind": "predicted"}]}
[[nodiscard]] Value run_predict_scaling(const PredictOptions& options);

}  // namespace roentgen::bench
