// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `overlap`: measures the gain of prefetching. It times steps with input only, with training only, with input and
// training in turn, and with input during training. It compares the last kind with the shortest possible time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/input.h"
#include "bench/network.h"
#include "core/value.h"

namespace roentgen::data {
struct Dataset;
}

namespace roentgen::bench {

/// Options of the case `overlap`.
struct OverlapOptions {
  /// Input settings. Batch, image side and channels also apply to the model. An emulated device (device_images_per_s)
  /// replaces the model.
  InputOptions input;
  /// Settings of the training step: model, labels, fuse, algorithms, engine and threads. 0 threads: one per core that
  /// input does not use.
  NetworkOptions step;
  /// Number of rounds, at least 1.
  std::int64_t rounds = 3;
};

/// Times of one step in seconds, for each kind of step.
struct StepTimes {
  double input_s = 0.0;
  double train_s = 0.0;
  double sequential_s = 0.0;
  double overlapped_s = 0.0;
  /// Processor time that the input of one step takes, summed over all threads.
  double input_work_s = 0.0;
};

/// Division of the cores between input and training.
enum class Cores : std::uint8_t {
  Disjoint,  ///< input and training run on separate cores, or training runs on a device
  Shared,    ///< input and training share all cores
};
/// Name of the value: "disjoint" or "shared".
[[nodiscard]] std::string_view name_of(Cores cores);

/// Returns the shortest possible time of a step with input during training: max(input, train) on disjoint cores, train
/// + input work / cores on shared cores.
[[nodiscard]] double least_step_s(const StepTimes& times, Cores cores, int core_count);

/// Input and training overlap fully if the step takes at most this factor times the shortest possible time.
inline constexpr double kOverlapFactor = 1.05;

/// Measured rounds of one kind of step.
struct KindOfSteps {
  std::string_view name;
  std::span<const Course> rounds;
  /// True if all steps of this kind take equally long on a quiet machine. False for steps that wait for batches,
  /// because batches arrive in bursts.
  bool is_steady = false;
};
/// Returns warnings that the times are not reliable because the machine was busy. It warns if the slowest round took
/// over 1.25 times the fastest round. For steady kinds it also compares the steps of a round in this way.
[[nodiscard]] std::vector<std::string> signs_of_other_work(const std::vector<KindOfSteps>& kinds);

/// Measures in interleaved rounds (rounds.h), each with warmup + steps steps of every kind. Times are means over the
/// measured steps of a round, and medians over the rounds. The warm-up is at least as long as the prefetch. A
/// sequential step waits for its batch, trains on it, and only then lets the input continue. Returns a table:
///   case, consumer (the model or the emulated device), the input's settings, threads, warmup, n, rounds
///   emulated          true if anything is emulated
///   images_per_s      overlapped
///   step_ms           {input, train, sequential, overlapped, input_work}
///   gain              sequential / overlapped
///   wait_share, bound of the overlapped steps, as run_pipeline()
///   cores             "disjoint" or "shared": names the row of `limits` that applies to this run
///   limits            [{cores, least, least_ms, ratio, allowed, holds}]: ratio = overlapped / least, in each round
///   by_round          [{input_ms, ..., ratio}]
///   warnings          [text]: signs that the machine was busy, as signs_of_other_work()
///   program, cpu, ...
/// Throws ConfigError on options out of range, DataError on unreadable images, and the errors of make_training_step().
[[nodiscard]] Value run_overlap(const data::Dataset& dataset, const OverlapOptions& options);

}  // namespace roentgen::bench
