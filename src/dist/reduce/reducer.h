// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reducer: averages gradient buckets over all ranks by an algorithm of reduce_list.h, chosen by name. It runs the
// algorithm's schedule segment by segment. Several segments are in flight, so that network and sums are busy at the
// same time. Nothing blocks: a bucket advances when its Pending is polled.
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

/// Value that chooses the algorithm by the hosts: `exchange` on one host and for two ranks, `ring` if each rank has its
/// own host. Otherwise it chooses `hierarchical`.
inline constexpr std::string_view kAutoReduce = "auto";
/// Value that averages gradients on CUDA devices by NCCL (nccl_averages.h). A Reducer treats it like kAutoReduce.
inline constexpr std::string_view kNcclReduce = "nccl";

/// Options of the averaging of buckets. They must be equal on all ranks.
struct ReduceOptions {
  /// Name of the algorithm: kAutoReduce, kNcclReduce, or a name of reduce_list.h.
  std::string algorithm = "allreduce";
  /// Type of the values sent between ranks: "f32", "bf16" or "f16" (wire.h).
  std::string wire = "f32";
  /// Number of each rank's host, equal for ranks on one host; empty: the communicator determines it.
  std::vector<int> hosts{};
  /// Number of elements sent in one message, at least 1.
  std::size_t segment = std::size_t{1} << 18U;
};

/// Returns the names of reduce_list.h, in its order.
[[nodiscard]] std::vector<std::string_view> reduce_names();
/// Throws ConfigError, which lists the known names, if the algorithm or wire type is unknown.
void check_reduce_names(const ReduceOptions& options);

/// Averages gradient buckets. Used only by the communicator's thread. Allocates only when more buckets are in progress
/// than ever before.
class Reducer {
 public:
  /// `group` must outlive this object. Throws ConfigError if a name is unknown or `hosts` does not have one number per
  /// rank.
  Reducer(Communicator& group, const ReduceOptions& options);
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;
  ~Reducer();

  /// Averages like Communicator::all_reduce_mean: sums are f32, and all ranks get the same bits. The Reducer must
  /// outlive the returned Pending.
  Pending all_reduce_mean(std::span<float> data, Phase phase);

  /// True if means have the same bits in buckets of any size: elements are sent as f32 and added in one order. In a
  /// ring the order changes from share to share. The communicator's own collective chooses an order by size. With bf16
  /// a rank does not round its own share. All ranks return the same.
  [[nodiscard]] bool is_free_of_bucket_size() const;

 private:
  std::unique_ptr<const ReducePlan> plan_;
  /// Buckets in progress, and completed ones for reuse.
  std::vector<std::unique_ptr<ReduceBucket>> buckets_;
};

}  // namespace roentgen::dist
