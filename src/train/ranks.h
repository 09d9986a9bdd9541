// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Ranks: communication between the processes of a run outside of updates: at the start, at checkpoints, in validation.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "dist/communicator.h"

namespace roentgen {
class Timeline;
}
namespace roentgen::data {
class PixelHashes;
}
namespace roentgen::dist {
class CommThread;
}
namespace roentgen::engine {
class Arena;
class Executable;
struct NormGroup;
}  // namespace roentgen::engine

namespace roentgen::train {

class Ema;
class Optimizer;

/// The ranks (processes) of a run. One process is a group of one, in which every call returns at once. All ranks must
/// make the same calls in the same order. Not thread-safe. Throws CommError like dist::CommThread.
class Ranks {
 public:
  /// @param group communicator, which must outlive this object; null for a single process
  explicit Ranks(dist::CommThread* group) : group_(group) {}

  [[nodiscard]] dist::CommThread* group() const { return group_; }  ///< null for a single process
  [[nodiscard]] int rank() const;                                   ///< number of this process, from 0
  [[nodiscard]] int size() const;                                   ///< number of ranks
  /// Number of ranks on this host, including this one.
  [[nodiscard]] int local_size() const;
  /// Host name of a rank; "this process" for a single process.
  [[nodiscard]] std::string host(int rank) const;
  /// True on the rank that writes files and prints.
  [[nodiscard]] bool is_first() const { return rank() == 0; }

  /// Broadcasts the bytes of rank `root`.
  [[nodiscard]] std::string broadcast(std::string bytes, dist::Phase phase, int root = 0) const;
  /// Broadcasts rank 0's values, in place.
  void broadcast(std::span<float> values, dist::Phase phase) const;
  /// Gathers the bytes of every rank, in rank order, on all ranks.
  [[nodiscard]] std::vector<std::string> gather(const std::string& own, dist::Phase phase) const;
  /// Gathers values of a type without pointers; ranks may have different numbers of values.
  template <typename Plain>
  [[nodiscard]] std::vector<std::vector<Plain>> gather_values(std::span<const Plain> own, dist::Phase phase) const {
    static_assert(std::is_trivially_copyable_v<Plain>);
    std::vector<std::vector<Plain>> all;
    for (const std::string& bytes : gather({reinterpret_cast<const char*>(own.data()), own.size_bytes()}, phase)) {
      all.emplace_back(bytes.size() / sizeof(Plain));
      if (!bytes.empty()) std::memcpy(all.back().data(), bytes.data(), bytes.size());  // memcpy must not get null
    }
    return all;
  }
  /// Broadcasts a value of rank 0 to all ranks; its type must not contain pointers.
  template <typename Plain>
  void share(Plain& value, dist::Phase phase) const {
    static_assert(std::is_trivially_copyable_v<Plain>);
    const std::string bytes = broadcast({reinterpret_cast<const char*>(&value), sizeof value}, phase);
    std::memcpy(&value, bytes.data(), sizeof value);
  }
  /// Replaces the values on every rank by their mean over all ranks.
  void average(std::span<float> values, dist::Phase phase) const;

 private:
  dist::CommThread* group_;
};

/// Count with its noun: "1 rank", "4 ranks".
[[nodiscard]] std::string ranks_text(std::int64_t count);

/// Broadcasts rank 0's weights, running statistics, optimizer state and moving averages, bit for bit. All ranks must
/// have equal plans.
/// @param ema moving averages of the weights; may be null
void share_memory(const Ranks& ranks, engine::Executable& executable, Optimizer& optimizer, Ema* ema);

/// Value of engine::CompileOptions::norm_group that makes batch norms use the images of all ranks; null for one
/// process. A timeout names "batch norm 17", where 17 is the number of the node in the graph.
[[nodiscard]] std::shared_ptr<const engine::NormGroup> norm_group(const Ranks& ranks, Timeline* timeline = nullptr);

/// Replaces the running statistics of each rank by their mean over ranks.
/// @param ema moving averages of the weights; may be null
void average_statistics(const Ranks& ranks, engine::Executable& executable, Ema* ema);

/// Gathers the running statistics of every rank on all ranks, in rank order. Between two calls of average_statistics(),
/// ranks have different statistics, and a resume file must keep all of them. Empty for one process, and for networks
/// without running statistics.
/// @param ema moving averages of the weights; may be null
[[nodiscard]] std::vector<float> gather_statistics(const Ranks& ranks, const engine::Executable& executable, Ema* ema);

/// Gives each rank its part of the result of gather_statistics(), which rank 0 has read from a file. Does nothing on
/// all ranks if rank 0's list is empty or comes from another number of ranks.
bool scatter_statistics(const Ranks& ranks, std::vector<float> all, engine::Executable& executable, Ema* ema);

/// Computes an FNV-1a hash (Fowler, Noll, Vo) over the bits of all elements.
[[nodiscard]] std::uint64_t hash_of(const engine::Arena& arena);

/// Returns the ranks whose hash differs from the hash of the majority; all ranks if there is no majority.
[[nodiscard]] std::vector<int> odd_ranks(std::span<const std::uint64_t> hashes);

/// Throws CommError unless all ranks hold the same weights, bit for bit. It names the ranks whose weights differ from
/// the majority.
void require_equal_weights(const Ranks& ranks, engine::Executable& executable, std::int64_t step);

/// Returns the values of all ranks on rank 0, in any order; an empty list on the other ranks. Ranks may have different
/// numbers of values.
/// @param most_at_once number of values of all ranks that are sent at once, which bounds the memory; at least one per
///     rank is sent
[[nodiscard]] std::vector<std::uint64_t> gather_on_first(const Ranks& ranks, std::span<const std::uint64_t> own,
                                                         dist::Phase phase,
                                                         std::size_t most_at_once = std::size_t{1} << 22U);

/// Exchanges hashes of samples: afterwards each rank has all hashes that any rank has.
/// @param samples samples to exchange, equal on all ranks
/// @param most_at_once number of hashes of all ranks that are sent at once, which bounds the memory; at least one per
///     rank is sent
void unite_hashes(const Ranks& ranks, std::span<const std::uint32_t> samples, data::PixelHashes& hashes,
                  std::size_t most_at_once = std::size_t{1} << 22U);

/// A rank whose text differs from rank 0's.
struct Difference {
  int rank = 0;       ///< first rank that differs
  std::string first;  ///< text of rank 0
  std::string other;  ///< text of the differing rank
};

/// Compares a text of every rank. Every check that all ranks agree uses this function. All ranks must call it and get
/// the same result, so that all report one error. Only hashes are sent unless texts differ.
/// @return the lowest rank whose text differs from rank 0's; nullopt if all texts are equal or there is one process
[[nodiscard]] std::optional<Difference> find_difference(const Ranks& ranks, const std::string& own, dist::Phase phase);

/// Throws ConfigError on all ranks unless all have the same text: "<what> on rank 1: expected X, as on rank 0, got Y".
/// @param what name of the compared text in the error, such as "labels"
void require_same_text(const Ranks& ranks, std::string_view what, const std::string& text, std::string_view remedy);

}  // namespace roentgen::train
