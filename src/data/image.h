// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Image: the pixels of one decoded file. The next file reuses its memory. Contains no file formats and no arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/error.h"
#include "runtime/aligned_buffer.h"

namespace roentgen::data {

/// Size, channels and sample type of an image.
struct ImageLayout {
  std::int64_t width_px = 0;   ///< columns
  std::int64_t height_px = 0;  ///< rows
  /// Number of channels: 1 = gray, 3 = red, green, blue. Codecs drop alpha.
  int channels = 1;
  /// Bits of a sample's container: 8 (std::uint8_t) or 16 (std::uint16_t, native byte order).
  int bits = 8;
  /// Sample value that means white: 255, 65535, or less if the file says so (12-bit DICOM: 4095).
  std::uint32_t max_value = 255;

  /// Number of bytes in one row.
  [[nodiscard]] std::size_t row_bytes() const {
    return static_cast<std::size_t>(width_px) * static_cast<std::size_t>(channels) * static_cast<std::size_t>(bits / 8);
  }
  /// Number of bytes in all rows.
  [[nodiscard]] std::size_t bytes() const { return row_bytes() * static_cast<std::size_t>(height_px); }
  friend bool operator==(const ImageLayout&, const ImageLayout&) = default;
};

/// Part of a picture that an Image shows, and the reduction of its pixels.
struct ImagePart {
  /// Factor of a reduced decode. Each pixel is the mean of reduction x reduction pixels of the picture; at the right
  /// and lower edges of fewer.
  int reduction = 1;
  /// Position of the part, in reduced pixels from the picture's upper left corner.
  std::int64_t left = 0;
  std::int64_t top = 0;  ///< reduced pixels from the picture's upper edge
  /// Size of the whole picture in its file.
  std::int64_t picture_width_px = 0;
  std::int64_t picture_height_px = 0;  ///< rows of the whole picture
  friend bool operator==(const ImagePart&, const ImagePart&) = default;
};

/// (H, W, C) u8 or u16 pixels, row-major, interleaved, rows without gaps, 64-byte aligned. Move-only;
/// thread-compatible.
class Image {
 public:
  Image() = default;
  explicit Image(const ImageLayout& layout) { reset(layout); }  ///< pixels are undefined
  /// Returns an image that refers to this image's pixels, which must stay alive and unchanged while it is used.
  [[nodiscard]] Image view() const {
    Image image;
    image.show(layout_, bytes());
    image.part_ = part_;
    image.is_for_one_use_ = is_for_one_use_;
    return image;
  }
  /// Returns an image that refers to pixels of another owner, as show() does.
  [[nodiscard]] static Image borrow(const ImageLayout& layout, std::span<const std::byte> pixels) {
    Image image;
    image.show(layout, pixels);
    return image;
  }

  /// Refers to pixels of another owner until the next reset() or show(). The pixels (layout.bytes() bytes) must outlive
  /// their use here. They are only read and must be aligned to their samples.
  void show(const ImageLayout& layout, std::span<const std::byte> pixels) {
    RG_ASSERT(pixels.size() == layout.bytes());
    RG_ASSERT(reinterpret_cast<std::uintptr_t>(pixels.data()) % static_cast<std::size_t>(layout.bits / 8) == 0);
    layout_ = layout;
    part_ = whole(layout);
    is_for_one_use_ = false;
    borrowed_ = pixels.data();
  }

  /// Sets a new layout. Memory grows as needed and never shrinks; afterwards the pixels are undefined. Throws
  /// DeviceError if memory is short, so callers check their limits first.
  void reset(const ImageLayout& layout) { reset(layout, whole(layout)); }
  /// Sets a new layout for a part of a picture.
  void reset(const ImageLayout& layout, const ImagePart& part) {
    if (layout.bytes() > memory_.size()) memory_ = runtime::AlignedBuffer(layout.bytes());
    layout_ = layout;
    part_ = part;
    is_for_one_use_ = false;
    borrowed_ = nullptr;
  }

  [[nodiscard]] const ImageLayout& layout() const { return layout_; }  ///< size, channels and sample type of the pixels
  [[nodiscard]] const ImagePart& part() const { return part_; }        ///< part of the picture that the pixels show
  /// True if the image shows the whole picture at full size.
  [[nodiscard]] bool is_whole() const { return part_ == whole(layout_); }
  /// layout() with the width and height of the whole picture.
  [[nodiscard]] ImageLayout picture() const {
    ImageLayout picture = layout_;
    picture.width_px = part_.picture_width_px;
    picture.height_px = part_.picture_height_px;
    return picture;
  }
  /// True if the pixels suit only the current use of the picture. Such an image must not be cached.
  [[nodiscard]] bool is_for_one_use() const { return is_for_one_use_; }
  /// Marks the pixels as suitable only for the current use, until the next reset() or show().
  void set_for_one_use() { is_for_one_use_ = true; }
  [[nodiscard]] std::int64_t width_px() const { return layout_.width_px; }    ///< columns
  [[nodiscard]] std::int64_t height_px() const { return layout_.height_px; }  ///< rows
  [[nodiscard]] int channels() const { return layout_.channels; }             ///< 1 or 3

  /// Pixels as bytes, for writing. Not allowed for borrowed pixels.
  [[nodiscard]] std::span<std::byte> bytes() {
    RG_ASSERT(borrowed_ == nullptr);
    return memory_.bytes().first(layout_.bytes());
  }
  /// Pixels as bytes, for reading.
  [[nodiscard]] std::span<const std::byte> bytes() const {
    return borrowed_ != nullptr ? std::span(borrowed_, layout_.bytes()) : memory_.bytes().first(layout_.bytes());
  }

  /// Pixels as samples of type T, which must match layout().bits: std::uint8_t or std::uint16_t.
  template <typename T>
  [[nodiscard]] std::span<T> samples() {
    RG_ASSERT(layout_.bits == static_cast<int>(8 * sizeof(T)));
    return {reinterpret_cast<T*>(bytes().data()), layout_.bytes() / sizeof(T)};
  }
  template <typename T>
  /// Pixels as samples of type T, for reading.
  [[nodiscard]] std::span<const T> samples() const {
    RG_ASSERT(layout_.bits == static_cast<int>(8 * sizeof(T)));
    return {reinterpret_cast<const T*>(bytes().data()), layout_.bytes() / sizeof(T)};
  }

 private:
  static ImagePart whole(const ImageLayout& layout) {
    return {.picture_width_px = layout.width_px, .picture_height_px = layout.height_px};
  }

  ImageLayout layout_;
  ImagePart part_;
  runtime::AlignedBuffer memory_;
  bool is_for_one_use_ = false;
  const std::byte* borrowed_ = nullptr;
};

/// Calls work(std::uint8_t{0}) for 8 bits or work(std::uint16_t{0}) for 16, and returns its result.
template <typename Work>
decltype(auto) with_sample_type(int bits, Work work) {
  return bits == 8 ? work(std::uint8_t{0}) : work(std::uint16_t{0});
}

}  // namespace roentgen::data
