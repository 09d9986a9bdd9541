// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The orders of stages that ablation and experiment compare, all with the same threads and buffers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace roentgen::bench {

/// Sizes that all orders share; all at least 1.
struct OrderSizes {
  /// Threads that map.
  int workers = 1;
  std::int64_t batch = 64;
  /// Elements that a shuffle draws from.
  std::int64_t buffer = 500;
};
/// For so many images: a buffer of 500, as the presets have, or of an eighth of them, so that little data spends no
/// larger share of its passes on filling it than much data does.
[[nodiscard]] OrderSizes order_sizes(int workers, std::int64_t batch, std::int64_t images);

/// Files that tf-official reads at once; no other order may read more, so that all arms have as much.
inline constexpr int kReaders = 10;

/// One order, as parse_pipeline() reads it.
struct Order {
  std::string_view name;
  /// What is wrong with it; empty: nothing.
  std::string_view fault;
  std::string pipeline;
};
/// "default", "tf-official", "naive": the presets with these sizes; naive maps with all threads, too.
[[nodiscard]] std::vector<Order> preset_orders(const OrderSizes& sizes);
/// tf-official first, then with each fault of the naive order on its own, then naive and default.
[[nodiscard]] std::vector<Order> ablation_orders(const OrderSizes& sizes);

}  // namespace roentgen::bench
