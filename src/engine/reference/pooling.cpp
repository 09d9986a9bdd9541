// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include <cmath>
#include <limits>

#include "engine/reference/ops.h"

namespace roentgen::engine::reference {
namespace {
/// Calls `visit(ih, iw)` for the pixels of the window of output (oh, ow) that are inside src, in row-major order.
template <typename Pool, typename Visit>
void for_each_pixel(const Pool& op, const Shape& src, std::int64_t oh, std::int64_t ow, Visit&& visit) {
  for (std::int64_t kh = 0; kh < op.kernel.height; ++kh) {
    for (std::int64_t kw = 0; kw < op.kernel.width; ++kw) {
      const std::int64_t ih = oh * op.stride.height - op.pad.height + kh;
      const std::int64_t iw = ow * op.stride.width - op.pad.width + kw;
      if (ih >= 0 && ih < src[2] && iw >= 0 && iw < src[3]) visit(ih, iw);
    }
  }
}

double window_count(const graph::AvgPool& op, const Shape& src, std::int64_t oh, std::int64_t ow) {
  if (op.count_pad) return static_cast<double>(op.kernel.height * op.kernel.width);
  double count = 0.0;
  for_each_pixel(op, src, oh, ow, [&](auto, auto) { count += 1.0; });
  return count;
}
}  // namespace

void forward(const graph::MaxPool& op, Scope& scope) {
  const Array& src = *scope.src[0];
  const double rms = root_mean_square(src);
  for_each_element(scope.dst->shape, [&](auto n, auto c, auto oh, auto ow) {
    double first = -std::numeric_limits<double>::infinity();
    double second = first;
    for_each_pixel(op, src.shape, oh, ow, [&](auto ih, auto iw) {
      const double value = src.at(n, c, ih, iw);
      if (value > first) {
        second = first;
        first = value;
      } else if (value > second) {
        second = value;
      }
    });
    scope.dst->at(n, c, oh, ow) = first;
    if (std::isfinite(second)) note_kink(scope, first - second, rms);
  });
}

void backward(const graph::MaxPool& op, Scope& scope) {
  const Array& src = *scope.src[0];
  for_each_element(scope.dst->shape, [&](auto n, auto c, auto oh, auto ow) {
    bool is_taken = false;
    for_each_pixel(op, src.shape, oh, ow, [&](auto ih, auto iw) {
      if (is_taken || src.at(n, c, ih, iw) != scope.dst->at(n, c, oh, ow)) return;
      is_taken = true;
      scope.diff_src[0]->at(n, c, ih, iw) += scope.diff_dst->at(n, c, oh, ow);
    });
  });
}

void forward(const graph::AvgPool& op, Scope& scope) {
  const Array& src = *scope.src[0];
  for_each_element(scope.dst->shape, [&](auto n, auto c, auto oh, auto ow) {
    double sum = 0.0;
    for_each_pixel(op, src.shape, oh, ow, [&](auto ih, auto iw) { sum += src.at(n, c, ih, iw); });
    scope.dst->at(n, c, oh, ow) = sum / window_count(op, src.shape, oh, ow);
  });
}

void backward(const graph::AvgPool& op, Scope& scope) {
  const Shape& src = scope.src[0]->shape;
  for_each_element(scope.dst->shape, [&](auto n, auto c, auto oh, auto ow) {
    const double share = scope.diff_dst->at(n, c, oh, ow) / window_count(op, src, oh, ow);
    for_each_pixel(op, src, oh, ow, [&](auto ih, auto iw) { scope.diff_src[0]->at(n, c, ih, iw) += share; });
  });
}

void forward(const graph::GlobalAvgPool&, Scope& scope) {
  const Array& src = *scope.src[0];
  const auto pixels = static_cast<double>(src.shape[2] * src.shape[3]);
  for_each_element(src.shape,
                   [&](auto n, auto c, auto h, auto w) { scope.dst->at(n, c, 0, 0) += src.at(n, c, h, w) / pixels; });
}

void backward(const graph::GlobalAvgPool&, Scope& scope) {
  const Shape& src = scope.src[0]->shape;
  const auto pixels = static_cast<double>(src[2] * src[3]);
  for_each_element(src, [&](auto n, auto c, auto h, auto w) {
    scope.diff_src[0]->at(n, c, h, w) += scope.diff_dst->at(n, c, 0, 0) / pixels;
  });
}

namespace {
/// Calls `visit(ih, iw, share)` for the pixels of the region of output (oh, ow). The shares of a region sum to 1.
template <typename Visit>
void for_each_in_region(const graph::AdaptiveAvgPool& op, const Shape& src, std::int64_t oh, std::int64_t ow,
                        Visit&& visit) {
  const graph::Region rows = graph::region(oh, op.out.height, src[2]);
  const graph::Region columns = graph::region(ow, op.out.width, src[3]);
  const double share = 1.0 / static_cast<double>((rows.end - rows.begin) * (columns.end - columns.begin));
  for (std::int64_t ih = rows.begin; ih < rows.end; ++ih) {
    for (std::int64_t iw = columns.begin; iw < columns.end; ++iw) visit(ih, iw, share);
  }
}
}  // namespace

void forward(const graph::AdaptiveAvgPool& op, Scope& scope) {
  const Array& src = *scope.src[0];
  for_each_element(scope.dst->shape, [&](auto n, auto c, auto oh, auto ow) {
    for_each_in_region(op, src.shape, oh, ow, [&](auto ih, auto iw, double share) {
      scope.dst->at(n, c, oh, ow) += share * src.at(n, c, ih, iw);
    });
  });
}

void backward(const graph::AdaptiveAvgPool& op, Scope& scope) {
  const Shape& src = scope.src[0]->shape;
  for_each_element(scope.dst->shape, [&](auto n, auto c, auto oh, auto ow) {
    for_each_in_region(op, src, oh, ow, [&](auto ih, auto iw, double share) {
      scope.diff_src[0]->at(n, c, ih, iw) += share * scope.diff_dst->at(n, c, oh, ow);
    });
  });
}

}  // namespace roentgen::engine::reference
