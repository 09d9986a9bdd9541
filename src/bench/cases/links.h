// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `links`: measures how fast every rank sends to every other rank while the rest are idle, and reports slow links.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/value.h"
#include "dist/communicator.h"

namespace roentgen::bench {

struct LinksOptions {
  /// Size of the messages that measure bandwidth, bytes; at least 1.
  std::size_t message_bytes = std::size_t{4} << 20U;
  /// Number of rounds, at least 1.
  std::int64_t rounds = 5;
  /// Threshold for slow links, above 1 (dist/links.h). A link is slow if its bandwidth is below the usual bandwidth
  /// (usual_link()) divided by this factor. It is also slow if its latency is above the usual latency times this
  /// factor.
  double slow_factor = 2.0;
};

/// Measures one link at a time, while the remaining ranks wait. Every round measures all links; bandwidths are medians
/// over the rounds. Every rank must call it and gets the same result, a table: case, kind "measured", ranks, hosts,
/// oversubscribed, rounds, message_bytes, slow_factor,
///   latency_us, gb_per_s          matrices: [{from, "to 0", "to 1", ...}], null on the diagonal
///   within_host, between_hosts    {us, gb_per_s}: dist::usual_link(); absent where there are no such links
///   links                         [{from, to, within_host, us, gb_per_s, slow}]
///   slow                          number of slow links
///   warnings                      a line for every slow rank and for every other slow link, and that of add_ranks()
///   program, cpu, ...
/// Throws ConfigError if an option is out of range, and CommError that names the rank to which a link failed.
[[nodiscard]] Value run_links(dist::Communicator& group, const LinksOptions& options);

}  // namespace roentgen::bench
