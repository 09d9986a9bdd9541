// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/image_cache.h"

#include <algorithm>
#include <utility>

namespace roentgen::data {

ImageCache::ImageCache(std::int64_t samples, std::size_t budget_bytes)
    : budget_bytes_(budget_bytes), images_(static_cast<std::size_t>(samples)) {}

const Image* ImageCache::find(std::uint32_t sample) const {
  MutexLock lock(mutex_);
  return images_.at(sample).get();
}

Result<StoredPicture> ImageCache::get(std::uint32_t sample, ImageUse /*use*/, const Decode& decode, Image& memory) {
  if (const Image* kept = find(sample)) {
    return StoredPicture{.image = kept->view(), .is_kept = true};
  }
  if (const Status decoded = decode(memory); !decoded) return decoded.why();
  if (!memory.is_for_one_use()) offer(sample, memory);
  return StoredPicture{.image = memory.view()};
}

void ImageCache::offer(std::uint32_t sample, const Image& image) {
  const std::size_t size = image.layout().bytes();
  {
    MutexLock lock(mutex_);
    if (images_.at(sample) || size > budget_bytes_ - bytes_) return;
    bytes_ += size;  // reserved now, because the copy is made without the lock
  }
  auto copy = std::make_unique<Image>(image.layout());
  std::copy_n(image.bytes().data(), size, copy->bytes().data());
  MutexLock lock(mutex_);
  if (images_.at(sample)) {
    bytes_ -= size;  // another worker stored this image first
    return;
  }
  images_.at(sample) = std::move(copy);
}

std::size_t ImageCache::bytes() const {
  MutexLock lock(mutex_);
  return bytes_;
}

}  // namespace roentgen::data
