// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Ranks: communication of a run's processes outside of a step: at the start, at checkpoints, in validation.
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

/// The ranks of a run. One process is a group of one, where every call returns at once. All ranks make the same calls
/// in the same order. One thread; CommError as CommThread.
class Ranks {
 public:
  /// @param group null: one process; must outlive this
  explicit Ranks(dist::CommThread* group) : group_(group) {}

  [[nodiscard]] dist::CommThread* group() const { return group_; }  ///< null: one process
  [[nodiscard]] int rank() const;                                   ///< this process, from 0
  [[nodiscard]] int size() const;                                   ///< number of ranks
  /// Ranks of this host, including this one.
  [[nodiscard]] int local_size() const;
  /// Host name of a rank; "this process" without a group.
  [[nodiscard]] std::string host(int rank) const;
  /// Whether this is the rank that writes files and prints.
  [[nodiscard]] bool is_first() const { return rank() == 0; }

  /// Broadcasts the bytes of rank `root`.
  [[nodiscard]] std::string broadcast(std::string bytes, dist::Phase phase, int root = 0) const;
  /// Broadcasts rank 0's values, in place.
  void broadcast(std::span<float> values, dist::Phase phase) const;
  /// Gathers the bytes of every rank, in rank order, on all ranks.
  [[nodiscard]] std::vector<std::string> gather(const std::string& own, dist::Phase phase) const;
  /// gather() of plain values; ranks may have different numbers of them.
  template <typename Plain>
  [[nodiscard]] std::vector<std::vector<Plain>> gather_values(std::span<const Plain> own, dist::Phase phase) const {
    static_assert(std::is_trivially_copyable_v<Plain>);
    std::vector<std::vector<Plain>> all;
    for (const std::string& bytes : gather({reinterpret_cast<const char*>(own.data()), own.size_bytes()}, phase)) {
      all.emplace_back(bytes.size() / sizeof(Plain));
      if (!bytes.empty()) std::memcpy(all.back().data(), bytes.data(), bytes.size());  // which takes no null
    }
    return all;
  }
  /// Broadcasts a value of rank 0; its type has no pointers.
  template <typename Plain>
  void share(Plain& value, dist::Phase phase) const {
    static_assert(std::is_trivially_copyable_v<Plain>);
    const std::string bytes = broadcast({reinterpret_cast<const char*>(&value), sizeof value}, phase);
    std::memcpy(&value, bytes.data(), sizeof value);
  }
  /// Replaces the values by their mean over ranks.
  void average(std::span<float> values, dist::Phase phase) const;

 private:
  dist::CommThread* group_;
};

/// "1 rank", "4 ranks".
[[nodiscard]] std::string ranks_text(std::int64_t count);

/// Broadcasts rank 0's weights, running statistics, optimizer state and averages, bit for bit, to executables of equal
/// plans.
/// @param ema may be null
void share_memory(const Ranks& ranks, engine::Executable& executable, Optimizer& optimizer, Ema* ema);

/// Value of engine::CompileOptions::norm_group with which batch norms use the images of all ranks; null for one
/// process. A timeout names "batch norm 17", the node's number in the graph.
[[nodiscard]] std::shared_ptr<const engine::NormGroup> norm_group(const Ranks& ranks, Timeline* timeline = nullptr);

/// Replaces the running statistics of each rank by their mean over ranks.
/// @param ema may be null
void average_statistics(const Ranks& ranks, engine::Executable& executable, Ema* ema);

/// Collects the running statistics of every rank, rank after rank, on all ranks. A run that stops between two averages
/// must keep them to resume with the same bits. Empty for one process, and for networks without any.
/// @param ema may be null
[[nodiscard]] std::vector<float> gather_statistics(const Ranks& ranks, const engine::Executable& executable, Ema* ema);

/// Gives each rank its part of the result of gather_statistics(), which rank 0 has read. Does nothing, on all ranks,
/// where rank 0's is empty or of another number of ranks.
bool scatter_statistics(const Ranks& ranks, std::vector<float> all, engine::Executable& executable, Ema* ema);

/// FNV-1a (Fowler, Noll, Vo) over the bits of the elements.
[[nodiscard]] std::uint64_t hash_of(const engine::Arena& arena);

/// Ranks whose hash differs from that of the majority; all ranks when there is no majority.
[[nodiscard]] std::vector<int> odd_ranks(std::span<const std::uint64_t> hashes);

/// Requires that all ranks hold the same weights, bit for bit. Otherwise throws CommError naming the ranks whose
/// weights differ from those of most others.
void require_equal_weights(const Ranks& ranks, engine::Executable& executable, std::int64_t step);

/// Distinct lines of all ranks, sorted; on all ranks. Lines hold no line feeds.
[[nodiscard]] std::vector<std::string> united(const Ranks& ranks, const std::vector<std::string>& own,
                                              dist::Phase phase);

/// Gathers hashes of samples: each rank gets those that any rank has.
/// @param samples the same on all ranks
/// @param most_at_once hashes of all ranks that travel together, and are in memory, beyond one a rank
void unite_hashes(const Ranks& ranks, std::span<const std::uint32_t> samples, data::PixelHashes& hashes,
                  std::size_t most_at_once = std::size_t{1} << 22U);

/// A rank whose text differs from rank 0's.
struct Difference {
  int rank = 0;       ///< first rank that differs
  std::string first;  ///< text of rank 0
  std::string other;  ///< text of that rank
};

/// Compares a text of every rank; every check that all ranks agree uses this. All ranks must call it and get the same
/// answer, so that all refuse with one message. Equal texts are compared by hash alone.
/// @return the lowest rank whose text is not rank 0's; nullopt where all texts are equal, and for one process
[[nodiscard]] std::optional<Difference> find_difference(const Ranks& ranks, const std::string& own, dist::Phase phase);

/// Throws ConfigError on all ranks unless all have the same text: "<what> of rank 1: expected X, as rank 0, got Y".
/// @param what noun for the text, as "split test"
void require_same_text(const Ranks& ranks, std::string_view what, const std::string& text, std::string_view remedy);

}  // namespace roentgen::train
