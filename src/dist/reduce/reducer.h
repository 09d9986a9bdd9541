// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reducer: averages buckets over all ranks by an algorithm of reduce_list.h, chosen by name. It runs the algorithm's
// schedule segment by segment, with several segments in flight, so that links and sums are busy at the same time.
// Nothing blocks: a bucket advances when its Pending is polled.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dist/communicator.h"

namespace roentgen::dist {

struct ReducePlan;
class ReduceBucket;

/// The way that fits the hosts: `exchange` on one host and between two ranks, `ring` with a host for each of several
/// ranks; else `hierarchical`.
inline constexpr std::string_view kAutoReduce = "auto";
/// Gradients on CUDA devices by NCCL (nccl_averages.h). A Reducer takes it as kAutoReduce.
inline constexpr std::string_view kNcclReduce = "nccl";

/// Algorithm that averages buckets; the same on all ranks.
struct ReduceOptions {
  /// kAutoReduce, kNcclReduce, or as in reduce_list.h.
  std::string algorithm = "allreduce";
  /// Numbers between ranks: "f32" or "bf16" (wire.h).
  std::string wire = "f32";
  /// Host of every rank, equal numbers on one host; empty: as the communicator says.
  std::vector<int> hosts{};
  /// Elements that travel together, at least 1.
  std::size_t segment = std::size_t{1} << 18U;
};

/// Names of reduce_list.h, in its order.
[[nodiscard]] std::vector<std::string_view> reduce_names();
/// ConfigError naming the known ones unless both names are.
void check_reduce_names(const ReduceOptions& options);

/// One thread, that of its communicator. Allocates nothing for a bucket once as many were under way before.
class Reducer {
 public:
  /// `group` must outlive it. ConfigError for an unknown name, or hosts that are not one a rank.
  Reducer(Communicator& group, const ReduceOptions& options);
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;
  ~Reducer();

  /// Averages as Communicator::all_reduce_mean: sums in float32, the same bits on all ranks. The Reducer must outlive
  /// the returned Pending.
  Pending all_reduce_mean(std::span<float> data, Phase phase);

 private:
  std::unique_ptr<const ReducePlan> plan_;
  /// Buckets in flight, and done ones, which are reused.
  std::vector<std::unique_ptr<ReduceBucket>> buckets_;
};

}  // namespace roentgen::dist
