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

/// The group as one of its ranks sees it.
struct Topology {
  int rank = 0;
  int size = 1;
  /// Host of every rank, as a number: equal on one host.
  std::vector<int> hosts{};
};

/// Elements [n * index / count, n * (index + 1) / count) of n; {0, 1}: all of them.
struct Share {
  std::int64_t index = 0;
  std::int64_t count = 1;
};

struct Message {
  /// Rank at the other end.
  int peer = 0;
  Share share{};
};

/// Content of messages: Parts are added to the receiver's elements; a Result replaces them.
enum class Carry : std::uint8_t { Parts, Result };

/// Messages in flight together, at most one between two ranks and in one direction. A round is over when all have
/// arrived and their content is used.
struct Round {
  Carry carry = Carry::Parts;
  std::vector<Message> sends{};
  /// Parts: all of one share, added up in this order.
  std::vector<Message> receives{};
  /// Number of `receives` that are added before this rank's own part.
  std::int64_t own_at = 0;
  /// The sum is complete after this step and becomes the mean.
  bool is_mean = false;
  /// Always float32, whatever the wire format: messages within a host's memory.
  bool is_exact = false;
};

/// Rounds of one rank, in order. The schedules of all ranks match: a rank receives in the order in which another sends
/// to it.
struct Schedule {
  std::vector<Round> rounds{};
  /// Whether the communicator's own collective does the same, in float32; then there are no rounds.
  bool is_communicators_own = false;
  /// A message waits for one that arrived in the round before, over many rounds.
  bool is_chain = false;
};

/// 0, 1, ... size - 1.
[[nodiscard]] std::vector<int> all_ranks(const Topology& topology);
/// Appends the way up a binary tree over `members`, ranks in ascending order of which this is member `own`. Member 2k+1
/// is added to 2k, then 4k+2 to 4k, and so on. The first member gets ((0 + 1) + (2 + 3)) + ..., or its mean when
/// `is_mean`.
void append_tree_up(Schedule& schedule, const std::vector<int>& members, std::size_t own, const Round& kind);
/// Appends the way back: all members receive the first member's elements.
void append_tree_down(Schedule& schedule, const std::vector<int>& members, std::size_t own, const Round& kind);
/// Appends an exchange: member i receives share i from all, sums it in the order of members, takes the mean and sends
/// it to all. 2 (n - 1) / n of the elements pass each link, and rounding happens twice, whatever n.
void append_exchange(Schedule& schedule, const std::vector<int>& members, std::size_t own);
/// Appends a ring: share i goes from member i + 1 around; each member adds its own elements, until member i takes the
/// mean. The mean goes around as well. As many elements pass each link as in an exchange, and rounding happens n times.
void append_ring(Schedule& schedule, const std::vector<int>& members, std::size_t own);

}  // namespace roentgen::dist
