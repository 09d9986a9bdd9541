// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Hashes of decoded pixels, so that an image that is in two sets under two names, or in two files, is found again.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "data/image.h"

namespace roentgen::data {

/// First 64 bits of XXH3-128 over form and samples of the picture in its smallest form. A picture whose red, green and
/// blue are equal everywhere is hashed as gray. A 16-bit picture whose samples are all multiples of 257 is hashed with
/// 8 bits. 0: all samples are equal; blank images look alike, so they are never matched.
[[nodiscard]] std::uint64_t pixel_hash(const Image& image);

/// 16 hex digits.
[[nodiscard]] std::string pixel_hash_text(std::uint64_t hash);

/// A hash a sample, filled by the workers that decode. Thread-safe.
class PixelHashes {
 public:
  explicit PixelHashes(std::int64_t samples) : hashes_(static_cast<std::size_t>(samples)) {}  ///< all hashes are 0

  /// Hash of a sample; 0: not known yet, or a blank image.
  [[nodiscard]] std::uint64_t get(std::uint32_t sample) const {
    return hashes_.at(sample).load(std::memory_order_relaxed);
  }
  /// Stores a hash.
  void set(std::uint32_t sample, std::uint64_t hash) { hashes_.at(sample).store(hash, std::memory_order_relaxed); }

 private:
  std::vector<std::atomic<std::uint64_t>> hashes_;
};

}  // namespace roentgen::data
