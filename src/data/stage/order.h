// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Which samples make which batch on which rank. Pure functions of (count, seed, epoch, rank): never of threads or time.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace roentgen::data {

/// Training visits samples in a new order every epoch; evaluation in the order given.
enum class Shuffle : std::uint8_t { No, Yes };

/// What becomes of the samples that do not fill a last batch on every rank.
enum class Tail : std::uint8_t {
  Pad,   ///< the last batches carry fewer valid samples: each sample counts exactly once (evaluation)
  Drop,  ///< they are left out of this epoch
  Wrap,  ///< the last batches are filled with the first samples of the same order
};
/// "pad", "drop", "wrap".
[[nodiscard]] std::string_view name_of(Tail tail);
/// The reverse; ConfigError naming the choices.
[[nodiscard]] Tail parse_tail(std::string_view text);

/// A permutation of 0 .. n-1 (the identity without shuffling): Fisher-Yates from the top, driven by
/// Random(seed, RandomStage::Shuffle, 0, epoch).
[[nodiscard]] std::vector<std::uint32_t> epoch_order(std::int64_t n, std::uint64_t seed, std::uint32_t epoch,
                                                     Shuffle shuffle);

/// How an epoch is cut.
struct ShardOptions {
  /// Samples of a full batch on one rank.
  std::int64_t batch = 1;
  Tail tail = Tail::Drop;
  int rank = 0;
  int ranks = 1;
};

/// Steps of an epoch of n samples, the same on every rank: floor(n / (batch * ranks)) for Drop, ceil otherwise.
[[nodiscard]] std::int64_t steps_per_epoch(std::int64_t n, const ShardOptions& options);

/// The samples of step `step` on this rank: the step's global batch is consecutive in `order`, and rank r takes its
/// r-th piece of `batch`. Fewer than `batch` entries, possibly none, only with Pad. The union over ranks does not
/// depend on the number of ranks as long as batch * ranks is the same. Wrap goes round as often as needed.
[[nodiscard]] std::vector<std::uint32_t> batch_samples(const std::vector<std::uint32_t>& order, std::int64_t step,
                                                       const ShardOptions& options);

}  // namespace roentgen::data
