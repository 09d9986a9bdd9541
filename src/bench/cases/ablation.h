// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `ablation`: what each fault of the naive order of stages costs on its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/input.h"
#include "core/value.h"

namespace roentgen::bench {

/// Sizes that all orders share; all at least 1.
struct OrderSizes {
  /// Threads that map.
  int workers = 1;
  std::int64_t batch = 64;
  /// Elements that a shuffle draws from.
  std::int64_t buffer = 500;
};
/// Order sizes for a number of images: a buffer of 500, as the presets have, or of an eighth of the images. So small
/// data does not spend a larger share of its passes on filling the buffer.
[[nodiscard]] OrderSizes order_sizes(int workers, std::int64_t batch, std::int64_t images);

/// An order of stages as text for parse_pipeline().
struct Order {
  std::string_view name;
  /// Fault of the order; empty: none.
  std::string_view fault;
  std::string pipeline;
};
/// tf-official first, then with each fault of the naive order on its own, then naive and default.
[[nodiscard]] std::vector<Order> ablation_orders(const OrderSizes& sizes);

/// Options of the case.
struct AblationOptions {
  /// Input settings; its pipeline is not used. ranks: the number that share the data, of which rank 0 is measured.
  InputOptions input{.ranks = 2};
  /// Rounds, at least 1.
  std::int64_t rounds = 3;
};

/// Measures ablation_orders() in interleaved rounds, each of warmup + steps batches of every order. The
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
