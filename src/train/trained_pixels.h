// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// TrainedPixels: the images that the weights were trained on, for the leak check of an evaluation.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/stage/pixel_hashes.h"

namespace roentgen::train {

/// Collects hashes of exactly the images that updates used, without those that workers only prefetched. A resumed run
/// therefore stores the same hashes. One thread, except for hashes().
class TrainedPixels {
 public:
  /// @param samples of the data set
  /// @param before result of list() from the resume file
  TrainedPixels(std::int64_t samples, std::vector<std::string> before);

  /// Filled by the training loader.
  [[nodiscard]] data::PixelHashes& hashes() { return hashes_; }
  /// Records the samples of one update.
  void add(std::span<const std::uint32_t> samples);
  /// Distinct hashes, 16 hex digits each, sorted; blank images have none.
  [[nodiscard]] std::vector<std::string> list() const;

 private:
  data::PixelHashes hashes_;
  std::vector<bool> is_seen_;
  std::vector<std::string> before_;
};

}  // namespace roentgen::train
