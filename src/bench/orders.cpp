// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/orders.h"

#include <fmt/format.h>

#include <algorithm>

namespace roentgen::bench {
namespace {

constexpr std::string_view kOfficial =
    "files | shard | shuffle | interleave(cycle=10, parallel=10) | prefetch({batch}) | shuffle({buffer}) | repeat | "
    "map_and_batch({workers}) | prefetch(1)";
constexpr std::string_view kNaive =
    "files | interleave | map({workers}) | shard(tail=wrap) | shuffle({buffer}) | repeat | batch | prefetch(1)";
constexpr std::string_view kDefault = "samples | shuffle | shard | repeat | map_and_batch({workers}) | prefetch";

Order order(std::string_view name, std::string_view fault, std::string_view text, const OrderSizes& sizes) {
  return {.name = name,
          .fault = fault,
          .pipeline = fmt::format(fmt::runtime(text), fmt::arg("batch", sizes.batch), fmt::arg("buffer", sizes.buffer),
                                  fmt::arg("workers", sizes.workers))};
}

}  // namespace

OrderSizes order_sizes(int workers, std::int64_t batch, std::int64_t images) {
  constexpr std::int64_t kUsualBuffer = 500, kShare = 8;
  return {.workers = workers, .batch = batch, .buffer = std::clamp<std::int64_t>(images / kShare, 1, kUsualBuffer)};
}

std::vector<Order> preset_orders(const OrderSizes& sizes) {
  return {order("default", "", kDefault, sizes), order("tf-official", "", kOfficial, sizes),
          order("naive", "", kNaive, sizes)};
}

std::vector<Order> ablation_orders(const OrderSizes& sizes) {
  return {
      order("tf-official", "", kOfficial, sizes),
      order("one-prefetch", "nothing is prefetched between reading and mapping",
            "files | shard | shuffle | interleave(cycle=10, parallel=10) | shuffle({buffer}) | repeat | "
            "map_and_batch({workers}) | prefetch(1)",
            sizes),
      order("serial-interleave", "one file is read at a time",
            "files | shard | shuffle | interleave | prefetch({batch}) | shuffle({buffer}) | repeat | "
            "map_and_batch({workers}) | prefetch(1)",
            sizes),
      order("map-then-batch", "rows are mapped one by one and copied into batches",
            "files | shard | shuffle | interleave(cycle=10, parallel=10) | prefetch({batch}) | shuffle({buffer}) | "
            "repeat | map({workers}) | batch | prefetch(1)",
            sizes),
      order("one-map-thread", "the same, and one thread maps",
            "files | shard | shuffle | interleave(cycle=10, parallel=10) | prefetch({batch}) | shuffle({buffer}) | "
            "repeat | map | batch | prefetch(1)",
            sizes),
      order("shard-after-reading", "every rank reads everything",
            "files | shuffle | interleave(cycle=10, parallel=10) | prefetch({batch}) | shard(tail=wrap) | "
            "shuffle({buffer}) | repeat | map_and_batch({workers}) | prefetch(1)",
            sizes),
      order("shard-after-map", "every rank reads and maps everything",
            "files | shuffle | interleave(cycle=10, parallel=10) | prefetch({batch}) | map({workers}) | "
            "shard(tail=wrap) | shuffle({buffer}) | repeat | batch | prefetch(1)",
            sizes),
      order("naive", "all of them, but all threads map", kNaive, sizes),
      order("naive-one-thread", "all of them",
            "files | interleave | map | shard(tail=wrap) | shuffle({buffer}) | repeat | batch | prefetch(1)", sizes),
      order("default", "", kDefault, sizes),
  };
}

}  // namespace roentgen::bench
