// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Image: the pixels of one decoded file, in memory that the next file reuses. No file format and no arithmetic here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/error.h"
#include "runtime/aligned_buffer.h"

namespace roentgen::data {

/// Form of a decoded picture.
struct ImageLayout {
  std::int64_t width_px = 0;   ///< columns
  std::int64_t height_px = 0;  ///< rows
  /// 1 = gray, 3 = red, green, blue. Alpha never gets this far.
  int channels = 1;
  /// Bits of the container of one sample: 8 (std::uint8_t) or 16 (std::uint16_t, native order).
  int bits = 8;
  /// The sample value that means white: 255, 65535, or less where a file says so (12-bit DICOM: 4095).
  std::uint32_t max_value = 255;

  /// Bytes of one row.
  [[nodiscard]] std::size_t row_bytes() const {
    return static_cast<std::size_t>(width_px) * static_cast<std::size_t>(channels) * static_cast<std::size_t>(bits / 8);
  }
  /// Bytes of all rows.
  [[nodiscard]] std::size_t bytes() const { return row_bytes() * static_cast<std::size_t>(height_px); }
  friend bool operator==(const ImageLayout&, const ImageLayout&) = default;
};

/// Part of a picture that pixels show, and their size.
struct ImagePart {
  /// Factor of a reduced decode. Each pixel is the mean of reduction x reduction of the picture's pixels, or of fewer
  /// at its right and lower edges.
  int reduction = 1;
  /// Position of the part in reduced pixels, from the picture's upper left corner.
  std::int64_t left = 0;
  std::int64_t top = 0;  ///< pixels from the picture's upper edge
  /// The picture as its file has it.
  std::int64_t picture_width_px = 0;
  std::int64_t picture_height_px = 0;  ///< rows of the picture
  friend bool operator==(const ImagePart&, const ImagePart&) = default;
};

/// (H, W, C) u8 or u16 pixels, row-major, interleaved, rows without gaps, 64-byte aligned. Move-only;
/// thread-compatible.
class Image {
 public:
  Image() = default;
  explicit Image(const ImageLayout& layout) { reset(layout); }  ///< pixels are undefined
  /// An image that borrows the pixels of this one, which must not change or die before it.
  [[nodiscard]] Image view() const {
    Image image;
    image.show(layout_, bytes());
    image.part_ = part_;
    image.is_for_one_use_ = is_for_one_use_;
    return image;
  }
  /// An image that borrows pixels of another owner, as show() does.
  [[nodiscard]] static Image borrow(const ImageLayout& layout, std::span<const std::byte> pixels) {
    Image image;
    image.show(layout, pixels);
    return image;
  }

  /// Shows pixels that others own and that outlive their use here, until the next reset() or show(). They are aligned
  /// to their samples, layout.bytes() of them, and only read.
  void show(const ImageLayout& layout, std::span<const std::byte> pixels) {
    RG_ASSERT(pixels.size() == layout.bytes());
    RG_ASSERT(reinterpret_cast<std::uintptr_t>(pixels.data()) % static_cast<std::size_t>(layout.bits / 8) == 0);
    layout_ = layout;
    part_ = whole(layout);
    is_for_one_use_ = false;
    borrowed_ = pixels.data();
  }

  /// Takes a new form. Memory grows when it must and never shrinks; the pixels are undefined afterwards. Throws
  /// DeviceError when memory is short: callers check their limits first.
  void reset(const ImageLayout& layout) { reset(layout, whole(layout)); }
  /// Takes a new form, of a part of a picture.
  void reset(const ImageLayout& layout, const ImagePart& part) {
    if (layout.bytes() > memory_.size()) memory_ = runtime::AlignedBuffer(layout.bytes());
    layout_ = layout;
    part_ = part;
    is_for_one_use_ = false;
    borrowed_ = nullptr;
  }

  [[nodiscard]] const ImageLayout& layout() const { return layout_; }  ///< form of the pixels
  [[nodiscard]] const ImagePart& part() const { return part_; }        ///< part of the picture that the pixels show
  /// Whether these are all pixels of the picture, at its own size.
  [[nodiscard]] bool is_whole() const { return part_ == whole(layout_); }
  /// layout(), but with the width and height of the picture.
  [[nodiscard]] ImageLayout picture() const {
    ImageLayout picture = layout_;
    picture.width_px = part_.picture_width_px;
    picture.height_px = part_.picture_height_px;
    return picture;
  }
  /// Whether the pixels fit only this use of the picture. Such an image must not be cached.
  [[nodiscard]] bool is_for_one_use() const { return is_for_one_use_; }
  /// Marks the pixels as fit for one use, until the next reset() or show().
  void set_for_one_use() { is_for_one_use_ = true; }
  [[nodiscard]] std::int64_t width_px() const { return layout_.width_px; }    ///< columns
  [[nodiscard]] std::int64_t height_px() const { return layout_.height_px; }  ///< rows
  [[nodiscard]] int channels() const { return layout_.channels; }             ///< 1 or 3

  /// Bytes to write; not for borrowed pixels.
  [[nodiscard]] std::span<std::byte> bytes() {
    RG_ASSERT(borrowed_ == nullptr);
    return memory_.bytes().first(layout_.bytes());
  }
  /// Bytes of all pixels, for reading.
  [[nodiscard]] std::span<const std::byte> bytes() const {
    return borrowed_ != nullptr ? std::span(borrowed_, layout_.bytes()) : memory_.bytes().first(layout_.bytes());
  }

  /// All samples as T: std::uint8_t or std::uint16_t, whichever layout().bits says.
  template <typename T>
  [[nodiscard]] std::span<T> samples() {
    RG_ASSERT(layout_.bits == static_cast<int>(8 * sizeof(T)));
    return {reinterpret_cast<T*>(bytes().data()), layout_.bytes() / sizeof(T)};
  }
  template <typename T>
  /// All samples as T, for reading.
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

/// Calls `work` with a 0 of the type of samples with 8 or 16 bits, and returns its result.
template <typename Work>
decltype(auto) with_sample_type(int bits, Work work) {
  return bits == 8 ? work(std::uint8_t{0}) : work(std::uint16_t{0});
}

}  // namespace roentgen::data
