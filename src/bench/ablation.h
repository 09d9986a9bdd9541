// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `ablation`: what each fault of the naive order of stages costs on its own.
#pragma once

#include <cstdint>

#include "bench/pipeline.h"
#include "core/value.h"

namespace roentgen::bench {

/// What to measure.
struct AblationOptions {
  /// Its pipeline is not used; ranks: those that share the data, of which rank 0 is measured.
  PipelineOptions input{.ranks = 2};
  /// At least 1.
  std::int64_t rounds = 3;
};

/// Measures ablation_orders() (orders.h) in interleaved rounds, each of warmup + steps batches of every order. The
/// result, a table:
///   case, the input's settings, buffer, warmup, n, rounds, device, emulated
///   base              the order that the others are compared with
///   orders            [{order, images_per_s, of_base, lost, wait_share, bound, fault}]: medians over the rounds,
///                     of_base that of the ratios within each round, lost = 1 - of_base
///   pipelines         [{order, stages}]
///   program, cpu, ...
/// Errors as run_pipeline().
[[nodiscard]] Value run_ablation(const data::Dataset& dataset, const AblationOptions& options);

}  // namespace roentgen::bench
