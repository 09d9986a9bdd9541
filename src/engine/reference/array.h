// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Array: a plain row-major tensor in double precision, for the reference interpreter.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/shape.h"

namespace roentgen::engine::reference {

/// Row-major array of doubles with its shape. Value type.
struct Array {
  Shape shape;               ///< sizes of the axes
  std::vector<double> data;  ///< shape.elements() values

  Array() = default;
  /// All zeros.
  explicit Array(Shape dims) : shape(std::move(dims)), data(static_cast<std::size_t>(shape.elements()), 0.0) {}

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(data.size()); }  ///< number of elements
  /// Element at index `i` in row-major order.
  [[nodiscard]] double& operator[](std::int64_t i) { return data[static_cast<std::size_t>(i)]; }
  /// Element at index `i` in row-major order.
  [[nodiscard]] double operator[](std::int64_t i) const { return data[static_cast<std::size_t>(i)]; }
  /// Element (n, c, h, w) of a 4-D array.
  [[nodiscard]] double& at(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) {
    return (*this)[index(n, c, h, w)];
  }
  /// Element (n, c, h, w) of a 4-D array.
  [[nodiscard]] double at(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) const {
    return (*this)[index(n, c, h, w)];
  }

 private:
  [[nodiscard]] std::int64_t index(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) const {
    const std::int64_t* dims = shape.dims().data();  // no bounds check: this is the innermost loop of every op
    return ((n * dims[1] + c) * dims[2] + h) * dims[3] + w;
  }
};

/// Calls `visit(n, c, h, w)` for every element of a (N, C, H, W) shape, in row-major order.
template <typename Visit>
void for_each_element(const Shape& shape, Visit&& visit) {
  RG_ASSERT(shape.rank() == 4);
  const std::int64_t N = shape[0];
  const std::int64_t C = shape[1];
  const std::int64_t H = shape[2];
  const std::int64_t W = shape[3];
  for (std::int64_t n = 0; n < N; ++n) {
    for (std::int64_t c = 0; c < C; ++c) {
      for (std::int64_t h = 0; h < H; ++h) {
        for (std::int64_t w = 0; w < W; ++w) visit(n, c, h, w);
      }
    }
  }
}

}  // namespace roentgen::engine::reference
