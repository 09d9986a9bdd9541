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

/// Measured network link from one rank to another.
struct Link {
  int from = 0;  ///< rank that sends
  int to = 0;    ///< rank that receives
  /// True if both ranks run on one host. Links inside a host are never compared with links between hosts.
  bool is_within_host = false;
  /// Latency in microseconds: half of the shortest round trip of 8 bytes. It is the same for both directions. The
  /// minimum is used because other activity of the machine only adds time. 0 if not measured.
  double us = 0.0;
  double gb_per_s = 0.0;  ///< bandwidth in GB/s; 0 if not measured
};

/// Typical performance of links inside hosts, or of links between hosts. It is the median over ranks of each rank's
/// best link. A median over all links would fail: with three hosts, one slow port slows most links. 0 if there are no
/// links.
struct UsualLink {
  double us = 0.0;        ///< latency in microseconds
  double gb_per_s = 0.0;  ///< bandwidth in GB/s
};
/// Computes the typical latency and bandwidth of links inside hosts, or between hosts.
[[nodiscard]] UsualLink usual_link(std::span<const Link> links, bool is_within_host);

/// Returns the links that are slow compared with the typical link, in order. Their bandwidth is below the typical one
/// divided by `slow_factor`, or their latency above the typical one times `slow_factor`.
[[nodiscard]] std::vector<Link> slow_links(std::span<const Link> links, double slow_factor);

/// Returns the ranks whose links are all among `slow`, inside hosts or between hosts, if they have links to at least
/// two other ranks. Their network port is then the likely cause.
[[nodiscard]] std::vector<int> slow_ranks(std::span<const Link> links, std::span<const Link> slow);

/// Names the slow ranks by host, and the other slow links by both hosts: "host3", "host1 to host2".
[[nodiscard]] std::vector<std::string> slow_names(std::span<const std::string> hosts, std::span<const Link> links,
                                                  std::span<const Link> slow);
/// Describes each result of slow_names() in one line: "[room] rank 2 (host3): expected ..., got ...; try ...".
/// @param hosts host name of each rank
[[nodiscard]] std::vector<std::string> slow_texts(std::string_view room, std::span<const std::string> hosts,
                                                  std::span<const Link> links, std::span<const Link> slow);

/// Pair of ranks, the lower one first.
struct RankPair {
  int low = 0;   ///< lower rank
  int high = 0;  ///< higher rank
};
/// Pairs of ranks to test, in rounds. The pairs of one round have no rank in common and are tested at the same time.
using PairRounds = std::vector<std::vector<RankPair>>;
/// Pairs each rank with every other rank, with one pair per round.
[[nodiscard]] PairRounds all_pairs(int ranks);
/// Pairs the first rank of each host with the first rank of every other host. A host is in at most one pair per round.
/// @param hosts host name of each rank
[[nodiscard]] PairRounds host_pairs(std::span<const std::string> hosts);

/// Settings of a link test.
struct LinkTest {
  /// Size of the messages that measure bandwidth. Several are in flight at once.
  std::size_t message_bytes = std::size_t{4} << 20U;
  /// Number of round trips of 8 bytes that measure latency; 0 to skip the latency.
  int round_trips = 100;
  /// Number of measurements of bandwidth, after a warm-up.
  std::int64_t rounds = 5;
  /// True to use the median of the measurements. False to use the best one, which ignores occasional lost packets.
  bool takes_median = true;
  /// Timeout of each wait.
  std::chrono::milliseconds limit{60'000};
};

/// Measures both directions of all pairs of ranks. Every rank must call it with the same arguments, and all get the
/// same result, sorted by sender and receiver. Throws CommError naming the other rank if a link does not respond.
[[nodiscard]] std::vector<Link> measure_links(Communicator& group, const PairRounds& pairs, const LinkTest& test);

}  // namespace roentgen::dist
