// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "graph/ops/window.h"

#include <string>

namespace roentgen::graph {
namespace {
std::int64_t output_size(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t pad,
                         std::int64_t dilation, bool is_ceil) {
  const std::int64_t span = size + 2 * pad - dilation * (kernel - 1) - 1;
  if (span < 0) return 0;
  std::int64_t out = span / stride + 1;
  if (is_ceil && span % stride != 0 && out * stride < size + pad) ++out;
  return out;
}
}  // namespace

void require_rank(std::string_view op, std::string_view node, const Shape& shape, int rank) {
  if (shape.rank() != rank) {
    throw ShapeError(
        error_text("graph." + std::string(op), node, "an input with " + std::to_string(rank) + " axes", shape.text()));
  }
}

Extent window_output(std::string_view op, std::string_view node, const Shape& src, const Window& window) {
  const auto refuse = [&](std::string_view expected) {
    throw ShapeError(error_text("graph." + std::string(op), node, expected,
                                "kernel " + std::to_string(window.kernel.height) + "x" +
                                    std::to_string(window.kernel.width) + " on " + src.text(),
                                "a smaller kernel, more padding or larger images"));
  };
  if (window.kernel.height < 1 || window.kernel.width < 1 || window.stride.height < 1 || window.stride.width < 1 ||
      window.pad.height < 0 || window.pad.width < 0 || window.dilation.height < 1 || window.dilation.width < 1) {
    refuse("kernel, stride and dilation of at least 1 and pad of at least 0");
  }
  const Extent out{output_size(src[2], window.kernel.height, window.stride.height, window.pad.height,
                               window.dilation.height, window.is_ceil),
                   output_size(src[3], window.kernel.width, window.stride.width, window.pad.width,
                               window.dilation.width, window.is_ceil)};
  if (out.height < 1 || out.width < 1) refuse("a window that fits into the padded input");
  return out;
}

Inferred pool_output(std::string_view op, std::string_view node, const Shape& src, const Window& window) {
  require_rank(op, node, src, 4);
  if (2 * window.pad.height > window.kernel.height || 2 * window.pad.width > window.kernel.width) {
    throw ShapeError(error_text("graph." + std::string(op), node, "padding of at most half the kernel",
                                std::to_string(window.pad.height) + "x" + std::to_string(window.pad.width)));
  }
  const Extent out = window_output(op, node, src, window);
  return {.output = {src[0], src[1], out.height, out.width}, .parameters = {}, .multiply_adds = 0};
}

}  // namespace roentgen::graph
