// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Division of an epoch's samples into batches and among ranks.
#pragma once

#include <cstdint>
#include <string_view>

namespace roentgen::data {

/// Handling of samples that do not fill a last batch on every rank.
enum class Tail : std::uint8_t {
  Pad,   ///< the last batches carry fewer valid samples: each sample counts exactly once (evaluation)
  Drop,  ///< leaves samples out of this epoch
  Wrap,  ///< the last batches are filled with the first samples of the same order
};
/// "pad", "drop", "wrap".
[[nodiscard]] std::string_view name_of(Tail tail);
/// Parses a name; ConfigError naming the choices.
[[nodiscard]] Tail parse_tail(std::string_view text);

/// Options of that division.
struct ShardOptions {
  /// Samples of a full batch on one rank.
  std::int64_t batch = 1;
  Tail tail = Tail::Drop;  ///< treatment of samples that fill no last batch
  int rank = 0;            ///< this process, from 0
  int ranks = 1;           ///< processes that share the samples
};

}  // namespace roentgen::data
