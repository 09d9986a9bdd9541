// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// ImageStore: interface of stores that keep decoded images between epochs. Implementations: image_cache.h (memory),
// shared_cache.h (memory of all processes of a node) and disk_cache.h (a file shared by all processes of a node).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/result.h"
#include "data/image.h"

namespace roentgen::data {

/// How an image is used. Exact: needs the decoded image itself. Training: the store may return a shrunk image, always
/// the same one.
enum class ImageUse : std::uint8_t { Exact, Training };

/// An image that a store returned.
struct StoredPicture {
  /// Pixels, borrowed from the store or from the memory passed to get().
  Image image;
  /// Hash of the decoded image (pixel_hashes.h), if the store knows it.
  std::optional<std::uint64_t> pixel_hash{};
  /// True if the image came from the store, so that nothing was decoded.
  bool is_kept = false;
};

/// Stores images by sample index. Nothing is ever evicted, because every epoch visits every sample once. Thread-safe.
class ImageStore {
 public:
  /// Function that reads and decodes the sample into its argument.
  using Decode = std::function<Status(Image&)>;

  ImageStore() = default;
  ImageStore(const ImageStore&) = delete;
  ImageStore& operator=(const ImageStore&) = delete;
  virtual ~ImageStore() = default;

  /// True if get() would return the image without reading its file.
  [[nodiscard]] virtual bool has(std::uint32_t sample, ImageUse use) = 0;
  /// Returns the stored image. If there is none, calls `decode` with `memory` and stores the result, unless there is no
  /// space or it is for one use only (Image::is_for_one_use()). The result is valid until `memory` changes. Fails if
  /// `decode` fails. All loaders that share a store must decode to the same channels.
  [[nodiscard]] virtual Result<StoredPicture> get(std::uint32_t sample, ImageUse use, const Decode& decode,
                                                  Image& memory) = 0;
  /// Must be called after the result of get() was used. Throws DataError if its pixels may have changed meanwhile.
  virtual void require_intact() const {}
};

}  // namespace roentgen::data
