// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// bench links: how fast every rank sends to every other, alone, and which links are slow.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/value.h"
#include "dist/communicator.h"

namespace roentgen::bench {

struct LinksOptions {
  /// Bytes of a message for bandwidth; at least 1.
  std::size_t message_bytes = std::size_t{4} << 20U;
  /// Rounds, at least 1.
  std::int64_t rounds = 5;
  /// Factor of a slow link, above 1 (dist/links.h). A link is slow if its bandwidth is below the usual one of its kind
  /// divided by this. It is also slow if its latency is above the usual one times this.
  double slow_factor = 2.0;
};

/// Measures one link at a time, while the other ranks wait, in rounds over all of them; bandwidths are medians over
/// the rounds. Every rank calls it and has the same result, a table: case, kind "measured", ranks, hosts,
/// oversubscribed, rounds, message_bytes, slow_factor,
///   latency_us, gb_per_s          matrices: [{from, "to 0", "to 1", ...}], null on the diagonal
///   within_host, between_hosts    {us, gb_per_s}: dist::usual_link(); absent where there are no such links
///   links                         [{from, to, within_host, us, gb_per_s, slow}]
///   slow                          how many links are
///   warnings                      a line for every slow rank and for every other slow link, and that of add_ranks()
///   program, cpu, ...
/// ConfigError on options out of range; CommError naming the other end of a link that fails.
[[nodiscard]] Value run_links(dist::Communicator& group, const LinksOptions& options);

}  // namespace roentgen::bench
