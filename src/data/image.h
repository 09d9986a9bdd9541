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
  std::int64_t width_px = 0;
  std::int64_t height_px = 0;
  /// 1 = gray, 3 = red, green, blue. Alpha never gets this far.
  int channels = 1;
  /// Bits of the container of one sample: 8 (std::uint8_t) or 16 (std::uint16_t, native order).
  int bits = 8;
  /// The sample value that means white: 255, 65535, or less where a file says so (12-bit DICOM: 4095).
  std::uint32_t max_value = 255;

  [[nodiscard]] std::size_t row_bytes() const {
    return static_cast<std::size_t>(width_px) * static_cast<std::size_t>(channels) * static_cast<std::size_t>(bits / 8);
  }
  [[nodiscard]] std::size_t bytes() const { return row_bytes() * static_cast<std::size_t>(height_px); }
  friend bool operator==(const ImageLayout&, const ImageLayout&) = default;
};

/// (H, W, C) u8 or u16 pixels, row-major, interleaved, rows without gaps, 64-byte aligned. Move-only;
/// thread-compatible.
class Image {
 public:
  Image() = default;
  explicit Image(const ImageLayout& layout) { reset(layout); }
  /// An image that reads pixels of somebody else, who must outlive it: layout.bytes() of them, 64-byte aligned. It is
  /// read only, until a reset() gives it memory of its own.
  [[nodiscard]] static Image borrow(const ImageLayout& layout, std::span<const std::byte> pixels) {
    RG_ASSERT(pixels.size() == layout.bytes());
    Image image;
    image.layout_ = layout;
    image.borrowed_ = pixels;
    return image;
  }

  /// Takes a new form. Memory grows when it must and never shrinks; the pixels are undefined afterwards. Throws
  /// DeviceError when memory is short: callers check their limits first.
  void reset(const ImageLayout& layout) {
    if (layout.bytes() > memory_.size()) memory_ = runtime::AlignedBuffer(layout.bytes());
    layout_ = layout;
    borrowed_ = {};
  }

  [[nodiscard]] const ImageLayout& layout() const { return layout_; }
  [[nodiscard]] std::int64_t width_px() const { return layout_.width_px; }
  [[nodiscard]] std::int64_t height_px() const { return layout_.height_px; }
  [[nodiscard]] int channels() const { return layout_.channels; }

  [[nodiscard]] std::span<std::byte> bytes() {
    RG_ASSERT(borrowed_.empty());
    return memory_.bytes().first(layout_.bytes());
  }
  [[nodiscard]] std::span<const std::byte> bytes() const {
    return borrowed_.empty() ? memory_.bytes().first(layout_.bytes()) : borrowed_;
  }

  /// All samples as T: std::uint8_t or std::uint16_t, whichever layout().bits says.
  template <typename T>
  [[nodiscard]] std::span<T> samples() {
    RG_ASSERT(layout_.bits == static_cast<int>(8 * sizeof(T)));
    return {reinterpret_cast<T*>(bytes().data()), layout_.bytes() / sizeof(T)};
  }
  template <typename T>
  [[nodiscard]] std::span<const T> samples() const {
    RG_ASSERT(layout_.bits == static_cast<int>(8 * sizeof(T)));
    return {reinterpret_cast<const T*>(bytes().data()), layout_.bytes() / sizeof(T)};
  }

 private:
  ImageLayout layout_;
  runtime::AlignedBuffer memory_;
  std::span<const std::byte> borrowed_;
};

}  // namespace roentgen::data
