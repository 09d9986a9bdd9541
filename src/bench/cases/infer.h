// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `infer`: the time a model needs for a batch that lies in memory, by batch size, with and without graph passes.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/network.h"
#include "core/value.h"

namespace roentgen::bench {

/// Options of the case.
struct InferOptions {
  /// Model, image, channels, labels, threads, engine, fuse, algorithms and profile; warm-up, and steps of a round. Its
  /// batch and graph are not used.
  NetworkOptions network{.warmup = 3, .steps = 20};
  /// Images of a batch, each above 0.
  std::vector<std::int64_t> batches{1, 16};
  /// Graphs that replace the model of that name: one for each of `batches`, or none.
  std::vector<graph::Graph> graphs{};
  /// Rounds, at least 1.
  std::int64_t rounds = 3;
};

/// Largest difference of logits with and without passes, over the largest logit, that counts as rounding. Rounding adds
/// about 1e-6 a layer of depth, and networks have up to 200.
inline constexpr double kMostRounding = 2e-4;

/// Compiles for inference with `fuse` and without any pass, and runs both in interleaved rounds: warm-up, then steps.
/// The result, a table:
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
/// or differ by more than kMostRounding (ten times it with Winograd's convolutions, which lose a digit).
[[nodiscard]] Value run_infer(const InferOptions& options);

}  // namespace roentgen::bench
