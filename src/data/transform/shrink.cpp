// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/transform/shrink.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "data/transform/filter.h"
#include "data/transform/kernels.h"

namespace roentgen::data {
namespace {

Taps taps_of(std::int64_t source, std::int64_t outputs, Filter filter) {
  Taps taps;
  taps.set({.step = static_cast<double>(source) / static_cast<double>(outputs), .outputs = outputs, .source = source},
           filter);
  return taps;
}

// Resizes an image. Each channel of each row is separated, resized, rounded, and interleaved again.
template <typename T>
void resize(const Image& image, Filter filter, Image& out) {
  const Taps columns = taps_of(image.width_px(), out.width_px(), filter);
  const Taps rows = taps_of(image.height_px(), out.height_px(), filter);
  const auto channels = static_cast<std::size_t>(image.channels());
  const auto width = static_cast<std::size_t>(image.width_px());
  const auto out_width = static_cast<std::size_t>(out.width_px());
  std::vector<float> mixed(width * channels), plane(width + static_cast<std::size_t>(columns.stride()));
  std::vector<float> levels(out_width);
  std::vector<T> samples(out_width);
  const auto white = static_cast<float>(image.layout().max_value);
  const Finish finish{.gain = (sizeof(T) == 1 ? 1.0F : kWideLevels) / white, .scale = white};
  const auto source = image.samples<T>();
  for (std::int64_t y = 0; y < out.height_px(); ++y) {
    const auto first = static_cast<std::size_t>(rows.first(y)) * width * channels;
    mix_rows({source.subspan(first), static_cast<std::int64_t>(width * channels)},
             rows.weights(y).first(static_cast<std::size_t>(rows.count(y))), mixed);
    T* const target = out.samples<T>().data() + static_cast<std::size_t>(y) * out_width * channels;
    for (std::size_t channel = 0; channel < channels; ++channel) {
      for (std::size_t x = 0; x < width; ++x) plane[x] = mixed[x * channels + channel];
      mix_columns(plane, columns, levels);
      finish_row(levels, finish, samples);
      for (std::size_t x = 0; x < out_width; ++x) target[x * channels + channel] = samples[x];
    }
  }
}

}  // namespace

bool shrink(Image& image, std::int64_t side_px, Filter filter) {
  const std::int64_t shortest = std::min(image.width_px(), image.height_px());
  if (shortest <= side_px) return false;
  const auto shrunk = [&](std::int64_t side) { return (2 * side * side_px + shortest) / (2 * shortest); };
  ImageLayout layout = image.layout();
  layout.width_px = shrunk(layout.width_px);
  layout.height_px = shrunk(layout.height_px);
  Image out(layout);
  with_sample_type(layout.bits, [&](auto sample) { resize<decltype(sample)>(image, filter, out); });
  image.reset(layout);  // keeps its memory for the next image
  std::ranges::copy(std::as_const(out).bytes(), image.bytes().begin());
  return true;
}

}  // namespace roentgen::data
