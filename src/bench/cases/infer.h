// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `infer`: time that a model needs for a batch that is already in memory, by batch size, with and without graph
// passes.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/network.h"
#include "core/value.h"

namespace roentgen::bench {

/// Options of the case `infer`.
struct InferOptions {
  /// Model, image, channels, labels, threads, engine, fuse, algorithms and profile, and the numbers of warm-up and
  /// measured steps of a round. `batch` and `graph` are ignored.
  NetworkOptions network{.warmup = 3, .steps = 20};
  /// Batch sizes to measure, each above 0.
  std::vector<std::int64_t> batches{1, 16};
  /// Graphs to use instead of the built-in model, one for each batch size; empty: the built-in model.
  std::vector<graph::Graph> graphs{};
  /// Number of rounds, at least 1.
  std::int64_t rounds = 3;
};

/// Largest difference between logits with and without passes that counts as rounding, relative to the largest logit.
/// Rounding adds about 1e-6 for each layer of depth, and networks have up to 200 layers.
inline constexpr double kMostRounding = 2e-4;

/// Compiles the model for inference twice, with the passes of `fuse` and without any. Runs both in interleaved rounds
/// of warm-up and steps. Returns a table:
///   case, model, image_px, channels, labels, threads, device, fuse, algorithms, warmup, n, rounds
///   batches             [{batch, images_per_s, best_ms, p50_ms, p95_ms, p99_ms, unfused_ms, gain, peak_bytes}]:
///                       latencies over all rounds; images_per_s = batch / p50; unfused_ms its median; gain the median
///                       over the rounds of (median unfused / median fused); peak_bytes the memory of the fused
///                       executable
///   rounding            largest difference of fused and unfused logits over the largest logit
///   checksum            of the fused logits of all batches
///   plan_hash           of the largest batch
///   profile, layers     of the largest batch's last round, as run_step()'s, floor_ms null; null unless asked
///   warnings            [text]: signs that the machine was busy
///   engine, program, cpu, ...
/// Throws ConfigError on options out of range, and the errors of compile(). Throws DataError when logits are not finite
/// or differ by more than kMostRounding. The limit is ten times larger with Winograd convolutions, which are less
/// accurate.
[[nodiscard]] Value run_infer(const InferOptions& options);

}  // namespace roentgen::bench
