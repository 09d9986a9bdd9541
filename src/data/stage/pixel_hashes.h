// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Hashes of decoded pixels. They detect an image that occurs in two data sets or files under different names.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "data/image.h"

namespace roentgen::data {

/// First 64 bits of XXH3-128 over layout and samples of the picture in its smallest form. A picture with equal red,
/// green and blue in every pixel is hashed as gray. A 16-bit picture whose samples are all multiples of 257 is hashed
/// with 8 bits. Returns 0 if all samples are equal, so that blank images are never reported as duplicates.
[[nodiscard]] std::uint64_t pixel_hash(const Image& image);

/// Hash as 16 hex digits.
[[nodiscard]] std::string pixel_hash_text(std::uint64_t hash);

/// One hash per sample, filled by the workers that decode. Thread-safe.
class PixelHashes {
 public:
  explicit PixelHashes(std::int64_t samples) : hashes_(static_cast<std::size_t>(samples)) {}  ///< all hashes are 0

  /// Hash of a sample; 0 if it is not known yet or the image is blank.
  [[nodiscard]] std::uint64_t get(std::uint32_t sample) const {
    return hashes_.at(sample).load(std::memory_order_relaxed);
  }
  /// Stores the hash of a sample.
  void set(std::uint32_t sample, std::uint64_t hash) { hashes_.at(sample).store(hash, std::memory_order_relaxed); }

 private:
  std::vector<std::atomic<std::uint64_t>> hashes_;
};

}  // namespace roentgen::data
