// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/plan/layout.h"

namespace roentgen::engine {
namespace {
std::string order_name(Layout layout) {
  switch (layout.order) {
    case Order::Blocked:
      return "nChw" + std::to_string(layout.block) + "c";
    case Order::ChannelsLast:
      return layout.block == 1 ? "nhwc" : "nhwc" + std::to_string(layout.block);
    default:
      return "nchw";
  }
}
}  // namespace

std::int64_t padded_channels(const Shape& shape, Layout layout) {
  return (shape[1] + layout.block - 1) / layout.block * layout.block;
}

std::int64_t pixels(const Shape& shape) { return shape.rank() == 4 ? shape[2] * shape[3] : 1; }

std::int64_t stored_elements(const Shape& shape, Layout layout) {
  if (shape.rank() < 2) return shape.elements();
  return shape[0] * padded_channels(shape, layout) * pixels(shape);
}

std::size_t stored_bytes(const Shape& shape, Layout layout) {
  return static_cast<std::size_t>(stored_elements(shape, layout)) * size_of(layout.dtype);
}

std::string name_of(const Shape& shape, Layout layout) {
  if (shape.rank() == 1) return "x";
  if (shape.rank() == 2) return "nc";
  const std::string order = order_name(layout);
  return layout.dtype == DType::F32 ? order : order + ":" + std::string(name_of(layout.dtype));
}

}  // namespace roentgen::engine
