// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `overlap`: the gain of prefetching. It times a step with input only, with training only, with one after the
// other, and with both at once. It also compares the last with the least possible time.
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

/// Options of the case.
struct OverlapOptions {
  /// Input settings. Batch, image side and channels are also the model's; a device named here replaces the model.
  InputOptions input;
  /// Model, labels, fuse, algorithms, engine and threads (0: the cores that input leaves) of the training step.
  NetworkOptions step;
  /// Rounds, at least 1.
  std::int64_t rounds = 3;
};

/// Times of one step, seconds.
struct StepTimes {
  double input_s = 0.0;
  double train_s = 0.0;
  double sequential_s = 0.0;
  double overlapped_s = 0.0;
  /// Processor time that the input of one step takes, over all threads.
  double input_work_s = 0.0;
};

/// Cores that input and computing run on.
enum class Cores : std::uint8_t {
  Disjoint,  ///< on separate cores, or computing on another device
  Shared,    ///< both on all cores
};
/// "disjoint", "shared".
[[nodiscard]] std::string_view name_of(Cores cores);

/// Least time of an overlapped step: disjoint max(input, train), shared train + input work / cores.
[[nodiscard]] double least_step_s(const StepTimes& times, Cores cores, int core_count);

/// Largest factor above the least time that counts as overlapped.
inline constexpr double kOverlapFactor = 1.05;

/// The steps of one kind.
struct KindOfSteps {
  std::string_view name;
  std::span<const Course> rounds;
  /// Whether all steps take equally long on a quiet machine. Steps that wait for batches do not, because batches arrive
  /// in bursts.
  bool is_steady = false;
};
/// Warnings that the times are not reliable. The slowest step of a round took over 1.25 times the fastest, for a steady
/// kind. Or the slowest round took over 1.25 times the fastest, for any kind.
[[nodiscard]] std::vector<std::string> signs_of_other_work(const std::vector<KindOfSteps>& kinds);

/// Measures in interleaved rounds, each of warmup + steps steps of every kind. Times are means over the steps of a
/// round in steady state, and medians over the rounds. The warm-up is at least as long as the prefetch. A sequential
/// step waits for its batch, trains on it, and only then lets the input continue. The result, a table:
///   case, consumer (the model or the emulated device), the input's settings, threads, warmup, n, rounds
///   emulated          is anything emulated?
///   images_per_s      overlapped
///   step_ms           {input, train, sequential, overlapped, input_work}
///   gain              sequential / overlapped
///   wait_share, bound of the overlapped steps, as run_pipeline()
///   cores             "disjoint" or "shared": which row of `limits` is this run's
///   limits            [{cores, least, least_ms, ratio, allowed, holds}]: ratio = overlapped / least, in each round
///   by_round          [{input_ms, ..., ratio}]
///   warnings          [text]: signs that the machine was busy, as signs_of_other_work()
///   program, cpu, ...
/// Throws ConfigError on options out of range, DataError on unreadable images, and the errors of make_training_step().
[[nodiscard]] Value run_overlap(const data::Dataset& dataset, const OverlapOptions& options);

}  // namespace roentgen::bench
