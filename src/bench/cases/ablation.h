// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `ablation`: measures how much time each fault in a naive order of pipeline stages costs, one fault at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/input.h"
#include "core/value.h"

namespace roentgen::bench {

/// Sizes that are equal in all compared pipelines; each at least 1.
struct OrderSizes {
  /// Number of threads that decode and transform.
  int workers = 1;
  std::int64_t batch = 64;
  /// Number of elements in the shuffle buffer.
  std::int64_t buffer = 500;
};
/// Chooses sizes for a number of images. The shuffle buffer has 500 elements, as in the presets, or an eighth of the
/// images if that is fewer. A larger buffer would take too much of a small data set's time to fill.
[[nodiscard]] OrderSizes order_sizes(int workers, std::int64_t batch, std::int64_t images);

/// An order of the stages of an input pipeline, with its text for parse_pipeline().
struct Order {
  std::string_view name;
  /// Name of the known mistake that makes this order of stages slow, such as a late cache; empty: none.
  std::string_view fault;
  std::string pipeline;
};
/// Returns the orders to compare: tf-official, tf-official with one fault of the naive order each, naive, default.
[[nodiscard]] std::vector<Order> ablation_orders(const OrderSizes& sizes);

/// Options of the case `ablation`.
struct AblationOptions {
  /// Input settings; the pipeline in them is not used. `ranks` is the number of ranks that share the data; only rank 0
  /// is measured.
  InputOptions input{.ranks = 2};
  /// Number of rounds, at least 1.
  std::int64_t rounds = 3;
};

/// Measures the pipelines of ablation_orders() in interleaved rounds (rounds.h), with warmup + steps batches per
/// pipeline. Returns a table:
///   case, the input's settings, buffer, warmup, n, rounds, device, emulated
///   base              the order that the others are compared with
///   orders            [{order, images_per_s, of_base, lost, wait_share, bound, fault}]: medians over the rounds,
///                     of_base that of the ratios within each round, lost = 1 - of_base
///   pipelines         [{order, stages}]
///   program, cpu, ...
/// Errors as run_pipeline().
[[nodiscard]] Value run_ablation(const data::Dataset& dataset, const AblationOptions& options);

}  // namespace roentgen::bench
