// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Schedule: what one rank sends, receives and sums to average a bucket, as plain data that a function of the group's
// shape makes (reduce_list.h). It knows no MPI, no memory and no format of numbers: Reducer carries it out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace roentgen::dist {

/// Group of ranks, from the view of one of them.
struct Topology {
  int rank = 0;
  int size = 1;
  /// Number of each rank's host; equal for ranks on one host.
  std::vector<int> hosts{};
};

/// Part of n elements: [n * index / count, n * (index + 1) / count). {0, 1} is all of them.
struct Share {
  std::int64_t index = 0;
  std::int64_t count = 1;

  /// First of `n` elements that belongs to this part.
  [[nodiscard]] constexpr std::size_t begin(std::size_t n) const {
    return n * static_cast<std::size_t>(index) / static_cast<std::size_t>(count);
  }
  /// Number of `n` elements that belong to this part.
  [[nodiscard]] constexpr std::size_t size(std::size_t n) const {
    return n * static_cast<std::size_t>(index + 1) / static_cast<std::size_t>(count) - begin(n);
  }
};

struct Message {
  /// The other rank.
  int peer = 0;
  Share share{};
};

/// Use of received elements: Parts are added to the receiver's elements, a Result replaces them.
enum class Carry : std::uint8_t { Parts, Result };

/// Messages of one step that are in flight together, at most one per direction between two ranks. A round ends when all
/// messages have arrived and their elements have been used.
struct Round {
  Carry carry = Carry::Parts;
  std::vector<Message> sends{};
  /// Messages to receive. Parts all belong to one share and are added in this order.
  std::vector<Message> receives{};
  /// Number of `receives` that are added before this rank's own elements.
  std::int64_t own_at = 0;
  /// True if the sum is complete after this round and is then divided to give the mean.
  bool is_mean = false;
  /// True if messages are float32 whatever the wire format, because they stay in one host's memory.
  bool is_exact = false;
};

/// Rounds of one rank, in order. The schedules of all ranks match: a rank receives messages in the order in which the
/// other rank sends them.
struct Schedule {
  std::vector<Round> rounds{};
  /// True if the communicator's own collective gives the same result in float32. Then there are no rounds.
  bool is_communicators_own = false;
  /// True if messages depend on the previous round over many rounds, as in a ring.
  bool is_chain = false;
};

/// Returns the ranks 0, 1, ... size - 1.
[[nodiscard]] std::vector<int> all_ranks(const Topology& topology);
/// Appends a reduction by a binary tree over `members` (ascending ranks), for the member at index `own`. First member
/// 2k+1 is added to 2k, then 4k+2 to 4k, and so on. The first member gets ((0 + 1) + (2 + 3)) + ..., or the mean if
/// `is_mean`.
void append_tree_up(Schedule& schedule, const std::vector<int>& members, std::size_t own, const Round& kind);
/// Appends a broadcast along the same tree: all members receive the first member's elements.
void append_tree_down(Schedule& schedule, const std::vector<int>& members, std::size_t own, const Round& kind);
/// Appends an exchange. Member i receives share i from all members and sums it in the order of members. It then takes
/// the mean and sends it to all. Each member sends 2 (n - 1) / n of the elements. Rounding happens twice, for any
/// number n of members.
void append_exchange(Schedule& schedule, const std::vector<int>& members, std::size_t own);
/// Appends a ring: share i starts at member i + 1 and travels around. Each member adds its own elements, and member i
/// takes the mean, which travels around as well. Each member sends as many elements as in an exchange, but rounding
/// happens n times.
void append_ring(Schedule& schedule, const std::vector<int>& members, std::size_t own);

}  // namespace roentgen::dist
