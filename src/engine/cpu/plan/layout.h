// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Layouts of activations on the CPU: channels in blocks of what a vector holds, or plain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/shape.h"
#include "engine/plan.h"

namespace roentgen::engine::cpu {

/// (N, C, H, W) as nChw{block}c: [n][c / block][h][w][c % block], C padded with zeros to whole blocks; block 1 is plain
/// row-major nchw. 2-D values (N, K) are always plain. Elements are F32 or Bf16; Bf16 only in blocks.
struct Layout {
  int block = 1;
  DType dtype = DType::F32;
  friend bool operator==(const Layout&, const Layout&) = default;
};

/// A value in memory.
struct Located {
  TensorId tensor = -1;
  Shape shape;
  Layout layout;
};

/// Channels rounded up to whole blocks.
[[nodiscard]] std::int64_t padded_channels(const Shape& shape, Layout layout);
/// Number of channel blocks.
[[nodiscard]] inline std::int64_t channel_blocks(const Shape& shape, Layout layout) {
  return padded_channels(shape, layout) / layout.block;
}
/// H * W of a 4-D shape, 1 of a 2-D one.
[[nodiscard]] std::int64_t pixels(const Shape& shape);
/// Elements with padding.
[[nodiscard]] std::int64_t stored_elements(const Shape& shape, Layout layout);
/// stored_elements() in bytes.
[[nodiscard]] std::size_t stored_bytes(const Shape& shape, Layout layout);
/// "nChw16c", "nChw16c:bf16", "nchw" or "nc".
[[nodiscard]] std::string name_of(const Shape& shape, Layout layout);

}  // namespace roentgen::engine::cpu
