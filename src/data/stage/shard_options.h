// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Settings that divide an epoch's samples into batches and among ranks.
#pragma once

#include <cstdint>
#include <string_view>

namespace roentgen::data {

/// Handling of samples at the end of an epoch that cannot fill a batch on every rank.
enum class Tail : std::uint8_t {
  Pad,   ///< the last batches have fewer valid samples: each sample counts exactly once (evaluation)
  Drop,  ///< these samples are omitted in this epoch
  Wrap,  ///< the last batches are filled with the first samples of the epoch's order
};
/// Name of the policy: "pad", "drop" or "wrap".
[[nodiscard]] std::string_view name_of(Tail tail);
/// Parses a name. Throws ConfigError that lists the choices.
[[nodiscard]] Tail parse_tail(std::string_view text);

/// How an epoch's samples are divided into batches and among ranks.
struct ShardOptions {
  /// Number of samples in a full batch on one rank.
  std::int64_t batch = 1;
  Tail tail = Tail::Drop;  ///< handling of samples that fill no batch
  int rank = 0;            ///< rank of this process, from 0
  int ranks = 1;           ///< number of processes that share the samples
};

}  // namespace roentgen::data
