// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// TrainedPixels: hashes of the images used in training, for the leak check of an evaluation.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/stage/pixel_hashes.h"

namespace roentgen::train {

class Ranks;

/// Collects hashes of the images that updates have used, without images that were only prefetched. A resumed run
/// therefore stores the same hashes. Not thread-safe, except for hashes().
class TrainedPixels {
 public:
  /// @param samples number of samples in the data set
  /// @param before result of list() in the resume file; empty on all ranks but rank 0
  TrainedPixels(std::int64_t samples, const std::vector<std::string>& before);

  /// Hashes by sample, which the training loader fills in.
  [[nodiscard]] data::PixelHashes& hashes() { return hashes_; }
  /// Records the samples that one update used.
  void add(std::span<const std::uint32_t> samples);
  /// Distinct hashes of the images that any rank has used, 16 hex digits each, sorted. Blank images have no hash. All
  /// ranks must call it; only rank 0 gets the list, the others get an empty one. A rank sends each hash only once.
  [[nodiscard]] std::vector<std::string> list(const Ranks& ranks);

 private:
  data::PixelHashes hashes_;
  std::vector<bool> is_seen_;
  /// Samples used since the last call of list().
  std::vector<std::uint32_t> news_;
  /// Rank 0: hashes of all ranks, sorted and distinct.
  std::vector<std::uint64_t> known_;
};

}  // namespace roentgen::train
