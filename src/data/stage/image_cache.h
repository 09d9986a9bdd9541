// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// ImageCache: decoded images at full size in memory, kept between epochs. Later results cannot be cached, because the
// resize is fused with the augmentation's crop (transform.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/thread_annotations.h"
#include "data/image.h"
#include "data/stage/image_store.h"

namespace roentgen::data {

/// Stores images until the budget is used up. Returned pixels stay valid as long as the cache exists. Thread-safe.
class ImageCache final : public ImageStore {
 public:
  /// Creates a cache for `samples` samples and at most `budget_bytes` of pixels.
  ImageCache(std::int64_t samples, std::size_t budget_bytes);

  [[nodiscard]] bool has(std::uint32_t sample, ImageUse /*use*/) override { return find(sample) != nullptr; }
  [[nodiscard]] Result<StoredPicture> get(std::uint32_t sample, ImageUse use, const Decode& decode,
                                          Image& memory) override;
  /// Size of all stored pixels in bytes.
  [[nodiscard]] std::size_t bytes() const;

 private:
  [[nodiscard]] const Image* find(std::uint32_t sample) const;
  /// Stores a copy of the image if there is space.
  void offer(std::uint32_t sample, const Image& image);

  const std::size_t budget_bytes_;
  mutable Mutex mutex_;
  std::vector<std::unique_ptr<const Image>> images_ RG_GUARDED_BY(mutex_);
  std::size_t bytes_ RG_GUARDED_BY(mutex_) = 0;
};

}  // namespace roentgen::data
