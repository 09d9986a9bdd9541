// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// ImageCache: decoded images kept in memory between epochs, at full size. The resize is fused with the augmentation's
// crop (transform.h), so nothing after decoding could be cached without changing results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/thread_annotations.h"
#include "data/image.h"
#include "data/stage/image_store.h"

namespace roentgen::data {

/// Keeps the first images until the budget is full. Returned pixels live as long as the cache. Thread-safe.
class ImageCache final : public ImageStore {
 public:
  /// Creates a cache for `samples` samples and at most `budget_bytes` of pixels.
  ImageCache(std::int64_t samples, std::size_t budget_bytes);

  [[nodiscard]] bool has(std::uint32_t sample, ImageUse /*use*/) override { return find(sample) != nullptr; }
  [[nodiscard]] Result<StoredPicture> get(std::uint32_t sample, ImageUse use, const Decode& decode,
                                          Image& memory) override;
  /// Pixels kept.
  [[nodiscard]] std::size_t bytes() const;

 private:
  [[nodiscard]] const Image* find(std::uint32_t sample) const;
  /// Keeps a copy when there is room.
  void offer(std::uint32_t sample, const Image& image);

  const std::size_t budget_bytes_;
  mutable Mutex mutex_;
  std::vector<std::unique_ptr<const Image>> images_ RG_GUARDED_BY(mutex_);
  std::size_t bytes_ RG_GUARDED_BY(mutex_) = 0;
};

}  // namespace roentgen::data
