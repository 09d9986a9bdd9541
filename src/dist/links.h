// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Measures the speed of links between ranks and finds slow ones. `bench links` tests all pairs, training its hosts.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dist/communicator.h"

namespace roentgen::dist {

/// Link from one rank to another.
struct Link {
  int from = 0;  ///< rank that sends
  int to = 0;    ///< rank that receives
  /// Whether both ranks run on one host. Links within hosts and between hosts are never compared.
  bool is_within_host = false;
  /// Half a round trip of 8 bytes, which both directions share: the least of all rounds, because what else the
  /// machine does comes on top. 0: not measured.
  double us = 0.0;
  double gb_per_s = 0.0;  ///< bandwidth; 0: not measured
};

/// Usual performance of a kind of link: the median over ranks of each one's best link. Not of all links, because one
/// slow port affects most links of three hosts. 0 when there are none.
struct UsualLink {
  double us = 0.0;        ///< latency
  double gb_per_s = 0.0;  ///< bandwidth
};
/// Latency and bandwidth of that kind of link, as UsualLink defines them.
[[nodiscard]] UsualLink usual_link(std::span<const Link> links, bool is_within_host);

/// Slow links of their kind, in order. Their bandwidth is below the usual one divided by `slow_factor`, or their
/// latency above the usual one times it.
[[nodiscard]] std::vector<Link> slow_links(std::span<const Link> links, double slow_factor);

/// Ranks with links to at least two others whose links of a kind are all among `slow`: it is the rank's port.
[[nodiscard]] std::vector<int> slow_ranks(std::span<const Link> links, std::span<const Link> slow);

/// A name for each slow rank's host and for each other slow link: "host3", "host1 to host2".
[[nodiscard]] std::vector<std::string> slow_names(std::span<const std::string> hosts, std::span<const Link> links,
                                                  std::span<const Link> slow);
/// A line for each slow rank, as slow_names(): "[room] rank 2 (host3): expected ..., got ...; try ...".
/// @param hosts by rank
[[nodiscard]] std::vector<std::string> slow_texts(std::string_view room, std::span<const std::string> hosts,
                                                  std::span<const Link> links, std::span<const Link> slow);

/// Two ranks; the lower one is first.
struct RankPair {
  int low = 0;   ///< lower rank
  int high = 0;  ///< higher rank
};
/// Pairs to test, one round after another. Pairs of a round share no rank and are tested at the same time.
using PairRounds = std::vector<std::vector<RankPair>>;
/// Pairs every rank with every other, one pair at a time.
[[nodiscard]] PairRounds all_pairs(int ranks);
/// The first rank of every host with that of every other, each host in at most one pair of a round.
/// @param hosts by rank
[[nodiscard]] PairRounds host_pairs(std::span<const std::string> hosts);

/// Settings of a link test.
struct LinkTest {
  /// A message of which bandwidth is measured; several are under way at once.
  std::size_t message_bytes = std::size_t{4} << 20U;
  /// Round trips of 8 bytes; 0: latency is not measured.
  int round_trips = 100;
  /// Rounds, after one that does not count.
  std::int64_t rounds = 5;
  /// Bandwidth by the median of the rounds; false: by the best one, since a lost packet is no property of a link.
  bool takes_median = true;
  /// Timeout of each wait.
  std::chrono::milliseconds limit{60'000};
};

/// Measures both directions of all pairs, by sender and receiver. Every rank must call it with the same pairs and test;
/// all get the same result. Throws CommError naming the other end of a link where nothing passes.
[[nodiscard]] std::vector<Link> measure_links(Communicator& group, const PairRounds& pairs, const LinkTest& test);

}  // namespace roentgen::dist
