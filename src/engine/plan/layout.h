// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Layout of a value in memory: order of the elements, padding of channels, and element type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/shape.h"
#include "engine/plan.h"

namespace roentgen::engine {

/// Order of the elements of a tensor (N, C, H, W).
enum class Order : std::uint8_t {
  Plain,         ///< row-major: [n][c][h][w]
  Blocked,       ///< [n][c / block][h][w][c % block]
  ChannelsLast,  ///< [n][h][w][c]
};

/// Layout of a value in memory. Channels are padded with zeros to a multiple of `block`, which is 1 in Plain. 2-D
/// values (N, K) are always Plain.
struct Layout {
  Order order = Order::Plain;
  int block = 1;
  DType dtype = DType::F32;

  /// Layout with channel blocks of `block`; Plain if `block` is 1.
  [[nodiscard]] static constexpr Layout blocked(int block, DType dtype = DType::F32) {
    return {block == 1 ? Order::Plain : Order::Blocked, block, dtype};
  }
  /// Layout of the same order with another element type.
  [[nodiscard]] constexpr Layout as(DType type) const { return {order, block, type}; }
  friend bool operator==(const Layout&, const Layout&) = default;
};

/// A value and the tensor that stores it.
struct Located {
  TensorId tensor = -1;
  Shape shape;
  Layout layout;
};

/// Number of channels, padding included.
[[nodiscard]] std::int64_t padded_channels(const Shape& shape, Layout layout);
/// Number of channel blocks.
[[nodiscard]] inline std::int64_t channel_blocks(const Shape& shape, Layout layout) {
  return padded_channels(shape, layout) / layout.block;
}
/// H * W of a 4-D shape; 1 for a 2-D shape.
[[nodiscard]] std::int64_t pixels(const Shape& shape);
/// Number of stored elements, padding included.
[[nodiscard]] std::int64_t stored_elements(const Shape& shape, Layout layout);
/// Size of stored_elements() in bytes.
[[nodiscard]] std::size_t stored_bytes(const Shape& shape, Layout layout);
/// Name of a layout: "nChw16c", "nhwc", "nhwc8" (channels padded to a multiple of 8), "nchw" or "nc". A type other than
/// f32 is appended, as in "nhwc:bf16".
[[nodiscard]] std::string name_of(const Shape& shape, Layout layout);

}  // namespace roentgen::engine
