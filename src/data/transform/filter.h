// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Filter weights of a resize along one axis.
//
// Source pixel j covers [j, j+1]. An output pixel at position p covers r source pixels and is a weighted mean of source
// pixels. With s = max(r, 1), the weights before normalisation are:
//   triangle  max(0, 1 - |j + 0.5 - p| / s)                     = Pillow's BILINEAR, torchvision's antialias = True
//   area      length of [p - s/2, p + s/2] within [j, j+1]      = the mean over the footprint when shrinking, linear
//                                                                 interpolation when enlarging
// Pixels outside the source have no weight. If p is outside [0, source), the result is black and uses no source pixel.
// At r = 1 and p = j + 0.5 both filters return pixel j exactly.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/transform/preprocess.h"

namespace roentgen::data {

/// Positions in the source of the output pixels of one axis: pixel i is at start + step * (i + 0.5). A negative step
/// mirrors.
struct Axis {
  double start = 0.0;        ///< position where the output starts, in source pixels; may lie outside
  double step = 1.0;         ///< source pixels per output pixel
  std::int64_t outputs = 0;  ///< number of output pixels
  std::int64_t source = 0;   ///< number of source pixels
  friend bool operator==(const Axis&, const Axis&) = default;
};

/// Weights of all outputs of one axis. Reuses its memory between calls of set().
class Taps {
 public:
  /// The weights of an output are padded with zeros to a multiple of this number, so that a kernel can read whole
  /// vectors.
  static constexpr std::int64_t kPad = 8;

  /// Computes the weights in double and finally rounds them to float. Does nothing if the same weights exist already.
  void set(const Axis& axis, Filter filter);

  /// First source pixel of output i.
  [[nodiscard]] std::int64_t first(std::int64_t i) const { return firsts_[static_cast<std::size_t>(i)]; }
  /// Number of source pixels of output i; 0 if the output is black.
  [[nodiscard]] std::int64_t count(std::int64_t i) const { return counts_[static_cast<std::size_t>(i)]; }
  /// The count(i) weights of output i, followed by zeros up to stride().
  [[nodiscard]] std::span<const float> weights(std::int64_t i) const {
    return std::span(weights_).subspan(static_cast<std::size_t>(i * stride_), static_cast<std::size_t>(stride_));
  }
  /// Number of weights per output, including padding.
  [[nodiscard]] std::int64_t stride() const { return stride_; }
  [[nodiscard]] std::int64_t outputs() const { return axis_.outputs; }  ///< number of outputs
  /// First source pixel that any output uses; 0 if all outputs are black.
  [[nodiscard]] std::int64_t begin() const { return begin_; }
  [[nodiscard]] std::int64_t end() const { return end_; }  ///< end of the source pixels in use; 0 if all are black

 private:
  void set_output(std::int64_t i, Filter filter);

  Axis axis_;
  Filter filter_ = Filter::Triangle;
  std::int64_t stride_ = 0;
  std::int64_t begin_ = 0;
  std::int64_t end_ = 0;
  std::vector<std::int64_t> firsts_;
  std::vector<std::int64_t> counts_;
  std::vector<float> weights_;
  std::vector<double> exact_;
};

}  // namespace roentgen::data
