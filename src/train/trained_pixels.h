// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// TrainedPixels: which pictures the weights have seen, for the leak check of an evaluation.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/stage/pixel_hashes.h"

namespace roentgen::train {

/// Hashes of exactly the images that updates used, whatever workers decoded ahead, so that a resumed run stores the
/// same ones. One thread, except for hashes().
class TrainedPixels {
 public:
  /// @param samples of the data set
  /// @param before content of the resume file, a result of list()
  TrainedPixels(std::int64_t samples, std::vector<std::string> before);

  /// Filled by the training loader.
  [[nodiscard]] data::PixelHashes& hashes() { return hashes_; }
  /// An update was made with these samples.
  void add(std::span<const std::uint32_t> samples);
  /// Distinct hashes, 16 hex digits each, sorted; blank images have none.
  [[nodiscard]] std::vector<std::string> list() const;

 private:
  data::PixelHashes hashes_;
  std::vector<bool> is_seen_;
  std::vector<std::string> before_;
};

}  // namespace roentgen::train
