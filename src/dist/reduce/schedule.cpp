// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/reduce/schedule.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace roentgen::dist {
namespace {

struct TreePlace {
  /// Members whose elements are added to this member's, nearest first.
  std::vector<int> children;
  /// Member that receives this member's sum; negative for the first member.
  int parent = -1;
};

TreePlace place_in_tree(const std::vector<int>& members, std::size_t own) {
  TreePlace place;
  for (std::size_t distance = 1; distance < members.size(); distance *= 2) {
    if (own % (2 * distance) != 0) {
      place.parent = members[own - distance];
      break;
    }
    if (own + distance < members.size()) place.children.push_back(members[own + distance]);
  }
  return place;
}

std::vector<Message> all_of(const std::vector<int>& peers) {
  std::vector<Message> messages;
  for (const int peer : peers) messages.push_back({.peer = peer});
  return messages;
}

void append_unless_empty(Schedule& schedule, Round round) {
  if (!round.sends.empty() || !round.receives.empty()) schedule.rounds.push_back(std::move(round));
}

}  // namespace

std::vector<int> all_ranks(const Topology& topology) {
  std::vector<int> ranks(static_cast<std::size_t>(topology.size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

void append_tree_up(Schedule& schedule, const std::vector<int>& members, std::size_t own, const Round& kind) {
  const TreePlace place = place_in_tree(members, own);
  append_unless_empty(
      schedule,
      {.receives = all_of(place.children), .is_mean = kind.is_mean && place.parent < 0, .is_exact = kind.is_exact});
  if (place.parent >= 0) schedule.rounds.push_back({.sends = all_of({place.parent}), .is_exact = kind.is_exact});
}

void append_tree_down(Schedule& schedule, const std::vector<int>& members, std::size_t own, const Round& kind) {
  TreePlace place = place_in_tree(members, own);
  if (place.parent >= 0) {
    schedule.rounds.push_back({.carry = Carry::Result, .receives = all_of({place.parent}), .is_exact = kind.is_exact});
  }
  std::ranges::reverse(place.children);  // the child with the largest subtree first
  append_unless_empty(schedule, {.carry = Carry::Result, .sends = all_of(place.children), .is_exact = kind.is_exact});
}

void append_exchange(Schedule& schedule, const std::vector<int>& members, std::size_t own) {
  const auto count = static_cast<std::int64_t>(members.size());
  const Share own_share{.index = static_cast<std::int64_t>(own), .count = count};
  Round parts{.own_at = own_share.index, .is_mean = true};
  Round result{.carry = Carry::Result};
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i == own) continue;
    const Share theirs{.index = static_cast<std::int64_t>(i), .count = count};
    parts.sends.push_back({.peer = members[i], .share = theirs});
    parts.receives.push_back({.peer = members[i], .share = own_share});
    result.sends.push_back({.peer = members[i], .share = own_share});
    result.receives.push_back({.peer = members[i], .share = theirs});
  }
  append_unless_empty(schedule, std::move(parts));
  append_unless_empty(schedule, std::move(result));
}

void append_ring(Schedule& schedule, const std::vector<int>& members, std::size_t own) {
  const std::size_t count = members.size();
  schedule.is_chain = true;
  // Returns the share with index own - before, counted around the ring.
  const auto share = [&](std::size_t before) {
    return Share{.index = static_cast<std::int64_t>((own + 2 * count - before) % count),
                 .count = static_cast<std::int64_t>(count)};
  };
  const int next = members[(own + 1) % count];
  const int last = members[(own + count - 1) % count];
  for (std::size_t step = 1; step < count; ++step) {
    schedule.rounds.push_back({.sends = {{.peer = next, .share = share(step)}},
                               .receives = {{.peer = last, .share = share(step + 1)}},
                               .own_at = 1,
                               .is_mean = step + 1 == count});
  }
  for (std::size_t step = 1; step < count; ++step) {
    schedule.rounds.push_back({.carry = Carry::Result,
                               .sends = {{.peer = next, .share = share(step - 1)}},
                               .receives = {{.peer = last, .share = share(step)}}});
  }
}

}  // namespace roentgen::dist
