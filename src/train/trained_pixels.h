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

/// Collects hashes of the images that updates have used, without images that were only prefetched. A resumed run
/// therefore stores the same hashes. Not thread-safe, except for hashes().
class TrainedPixels {
 public:
  /// @param samples number of samples in the data set
  /// @param before result of list() in the resume file
  TrainedPixels(std::int64_t samples, std::vector<std::string> before);

  /// Hashes by sample, which the training loader fills in.
  [[nodiscard]] data::PixelHashes& hashes() { return hashes_; }
  /// Records the samples that one update used.
  void add(std::span<const std::uint32_t> samples);
  /// Distinct hashes of the used images, 16 hex digits each, sorted. Blank images have no hash.
  [[nodiscard]] std::vector<std::string> list() const;

 private:
  data::PixelHashes hashes_;
  std::vector<bool> is_seen_;
  std::vector<std::string> before_;
};

}  // namespace roentgen::train
