// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// ImageCache: decoded images kept in memory between epochs. They are kept as decoded, at full size: the resize is fused
// with the augmentation's crop (transform.h), so nothing later in the way could be kept without changing results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/thread_annotations.h"
#include "data/image.h"

namespace roentgen::data {

/// Images by sample index, first come, first kept, until the budget is full; nothing is ever thrown out, because every
/// epoch visits every sample once. Thread-safe.
class ImageCache {
 public:
  /// For `samples` samples and at most `budget_bytes` of pixels.
  ImageCache(std::int64_t samples, std::size_t budget_bytes);

  /// The image of a sample, or null. Lives as long as the cache.
  [[nodiscard]] const Image* find(std::uint32_t sample) const;
  /// Keeps a copy when there is room. All loaders that share a cache must decode to the same channels.
  void offer(std::uint32_t sample, const Image& image);
  /// Pixels kept.
  [[nodiscard]] std::size_t bytes() const;

 private:
  const std::size_t budget_bytes_;
  mutable Mutex mutex_;
  std::vector<std::unique_ptr<const Image>> images_ RG_GUARDED_BY(mutex_);
  std::size_t bytes_ RG_GUARDED_BY(mutex_) = 0;
};

}  // namespace roentgen::data
