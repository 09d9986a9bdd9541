// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// ImageStore: where decoded images are kept between epochs. In memory: image_cache.h; in a file that all processes of a
// node share: disk_cache.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/result.h"
#include "data/image.h"

namespace roentgen::data {

/// Use of an image. Exact: the decoded image itself. Training: a store may give a smaller image, the same one every
/// time.
enum class ImageUse : std::uint8_t { Exact, Training };

/// An image that a store gave.
struct StoredPicture {
  /// Borrowed from the store, or from the memory that get() was given.
  Image image;
  /// Hash of the decoded image (pixel_hashes.h), where the store knows it.
  std::optional<std::uint64_t> pixel_hash{};
  /// Whether the store had it, so that nothing was decoded.
  bool is_kept = false;
};

/// Keeps images by sample index; nothing is ever thrown out, because every epoch visits every sample once. Thread-safe.
class ImageStore {
 public:
  /// Reads and decodes the sample into its argument.
  using Decode = std::function<Status(Image&)>;

  ImageStore() = default;
  ImageStore(const ImageStore&) = delete;
  ImageStore& operator=(const ImageStore&) = delete;
  virtual ~ImageStore() = default;

  /// Whether get() would return the image without reading its file.
  [[nodiscard]] virtual bool has(std::uint32_t sample, ImageUse use) = 0;
  /// Returns the stored image, or decodes into `memory` by `decode` and stores the result where there is room and it is
  /// not for one use. The result is valid until `memory` changes. Failure: that of `decode`. All loaders that share a
  /// store must decode to the same channels.
  [[nodiscard]] virtual Result<StoredPicture> get(std::uint32_t sample, ImageUse use, const Decode& decode,
                                                  Image& memory) = 0;
  /// Must be called after the result of get() was used. DataError when its pixels may have changed meanwhile.
  virtual void require_intact() const {}
};

}  // namespace roentgen::data
