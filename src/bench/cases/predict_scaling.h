// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `predict-scaling`: predicts a cluster's throughput from a training step that is measured on one machine.
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

/// A kind of link.
struct LinkCost {
  double bytes_per_s = 0.0;
  double latency_s = 0.0;
};
/// "1Gbit", "100Mbit", "8GB": bits or bytes a second, decimal; in bytes a second. ConfigError for other texts.
[[nodiscard]] double parse_bandwidth(std::string_view text);
/// "50us", "1ms", "2s"; in seconds. ConfigError for other texts.
[[nodiscard]] double parse_duration(std::string_view text);

/// The machines.
struct Cluster {
  /// Ranks of a host; at least 1.
  std::int64_t per_host = 1;
  LinkCost within_host{.bytes_per_s = 8e9, .latency_s = 3e-6};
  LinkCost between_hosts{.bytes_per_s = 125e6, .latency_s = 50e-6};
};

/// Seconds that averaging takes.
struct LinkTime {
  /// Time during which the link is busy.
  double busy_s = 0.0;
  /// Time until the last bytes have arrived; other messages may follow meanwhile.
  double late_s = 0.0;
};
/// Time of averaging `bytes` over `ranks` in a ring; its slowest link decides. Every rank sends 2 (n - 1) / n of them
/// in 2 (n - 1) messages (Patarasuk and Yuan 2009).
[[nodiscard]] LinkTime allreduce_time(double bytes, std::int64_t ranks, const Cluster& cluster);

/// A step as it was measured on one rank.
struct MeasuredStep {
  /// Times of several steps; draws are made from these.
  std::vector<double> step_s;
  StepCourse course;
  /// Size of each bucket.
  std::vector<double> bucket_bytes;
};

/// Times of a step that vary as a normal distribution: `count` values in the middles of equal parts of it, ascending.
/// @param sd standard deviation as a share of `mean_s`, below 0.3; 0: one value
[[nodiscard]] std::vector<double> normal_steps(double mean_s, double sd, std::int64_t count);

/// Seconds of each of `steps` steps of `ranks` ranks that start together. Every rank's time is drawn from the measured
/// ones. A bucket is sent when the slowest rank has it and the previous bucket has left the links. The step ends when
/// the last bucket has arrived and the slowest rank is done.
/// @param is_overlapped false: buckets are sent when the slowest rank is done
[[nodiscard]] std::vector<double> simulate_steps(const MeasuredStep& measured, std::int64_t ranks,
                                                 const Cluster& cluster, std::int64_t steps, bool is_overlapped,
                                                 std::uint64_t seed);

struct PredictOptions {
  /// `threads` at least 1; `steps` are measured.
  NetworkOptions step;
  /// Images per second of an emulated device, whose step takes batch / device_images_per_s s. 0: none.
  double device_images_per_s = 0.0;
  /// Standard deviation of such a device's steps (normal_steps()).
  double device_sd = 0.0;
  double bucket_mb = 4.0;
  bool is_overlapped = true;
  /// Numbers of ranks, at least one.
  std::vector<std::int64_t> ranks{1, 2, 4, 8};
  Cluster cluster;
};

/// Measures steps on this machine, and predicts. @return {"points": [{"ranks", "hosts", "batch", "images_per_s",
/// "efficiency" (to one rank), "step_ms", "compute_ms" (the slowest of so many), "comm_ms" (all buckets alone), "kind":
/// "predicted"}]}
[[nodiscard]] Value run_predict_scaling(const PredictOptions& options);

}  // namespace roentgen::bench
