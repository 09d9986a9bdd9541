// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/transform/filter.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace roentgen::data {
namespace {

double weight_of(Filter filter, double place, double support, std::int64_t pixel) {
  const auto left = static_cast<double>(pixel);
  if (filter == Filter::Triangle) return std::max(0.0, 1.0 - std::abs(left + 0.5 - place) / support);
  const double low = std::max(place - support / 2.0, left);
  const double high = std::min(place + support / 2.0, left + 1.0);
  return std::max(0.0, high - low);
}

}  // namespace

void Taps::set(const Axis& axis, Filter filter) {
  if (axis == axis_ && filter == filter_ && !firsts_.empty()) return;
  RG_ASSERT(axis.outputs > 0 && axis.source > 0);
  RG_ASSERT(std::isfinite(axis.start) && std::isfinite(axis.step));
  axis_ = axis;
  filter_ = filter;
  // Upper bound on the number of weights per output. A triangle of width 2 s contains at most 2 s + 1 pixel centres.
  // An area of width s touches at most s + 2 pixels. The source size is another bound.
  const double support = std::max(1.0, std::abs(axis.step));
  const double most = std::min(2.0 * support + 2.0, static_cast<double>(axis.source));
  stride_ = (static_cast<std::int64_t>(most) + kPad - 1) / kPad * kPad;
  const auto outputs = static_cast<std::size_t>(axis.outputs);
  firsts_.resize(outputs);
  counts_.resize(outputs);
  weights_.resize(outputs * static_cast<std::size_t>(stride_));
  exact_.resize(static_cast<std::size_t>(stride_));
  begin_ = axis.source;
  end_ = 0;
  for (std::int64_t i = 0; i < axis.outputs; ++i) {
    set_output(i, filter);
    if (count(i) == 0) continue;
    begin_ = std::min(begin_, first(i));
    end_ = std::max(end_, first(i) + count(i));
  }
  begin_ = std::min(begin_, end_);
}

void Taps::set_output(std::int64_t i, Filter filter) {
  const auto index = static_cast<std::size_t>(i);
  const std::span<float> weights =
      std::span(weights_).subspan(static_cast<std::size_t>(i * stride_), static_cast<std::size_t>(stride_));
  std::ranges::fill(weights, 0.0F);
  firsts_[index] = 0;
  counts_[index] = 0;
  const double place = axis_.start + axis_.step * (static_cast<double>(i) + 0.5);
  if (!(place >= 0.0 && place < static_cast<double>(axis_.source))) return;
  const double support = std::max(1.0, std::abs(axis_.step));
  const double reach = filter == Filter::Triangle ? support : support / 2.0;
  std::int64_t first = std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(place - reach)));
  std::int64_t last = std::min(axis_.source - 1, static_cast<std::int64_t>(std::floor(place + reach)));
  while (first < last && weight_of(filter, place, support, first) == 0.0) ++first;
  while (last > first && weight_of(filter, place, support, last) == 0.0) --last;
  RG_ASSERT(last - first < stride_);
  double sum = 0.0;
  for (std::int64_t pixel = first; pixel <= last; ++pixel) {
    const double weight = weight_of(filter, place, support, pixel);
    exact_[static_cast<std::size_t>(pixel - first)] = weight;
    sum += weight;
  }
  for (std::size_t tap = 0; tap <= static_cast<std::size_t>(last - first); ++tap) {
    weights[tap] = static_cast<float>(exact_[tap] / sum);
  }
  firsts_[index] = first;
  counts_[index] = last - first + 1;
}

}  // namespace roentgen::data
