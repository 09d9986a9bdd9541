// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/channels.h"

#include <algorithm>
#include <cstddef>

#include "core/error.h"

namespace roentgen::data {
namespace {

// Converts pixels. Src and Dst are channels per pixel, known at compile time so that the inner loop has no branch.
template <int Src, int Dst, typename T>
void convert_pixels(std::span<const T> src, std::span<T> dst) {
  const std::size_t pixels = dst.size() / Dst;
  for (std::size_t i = 0; i < pixels; ++i) {
    const T* in = src.data() + i * Src;
    T* out = dst.data() + i * Dst;
    if constexpr (Dst == 1) {
      out[0] = Src < 3 ? in[0] : static_cast<T>(luma(in[0], in[Src < 3 ? 0 : 1], in[Src < 3 ? 0 : 2]));
    } else {
      for (int channel = 0; channel < 3; ++channel) out[channel] = in[Src < 3 ? 0 : channel];
    }
  }
}

template <int Src, typename T>
void convert_to(PixelSpan<const T> src, PixelSpan<T> dst) {
  if (dst.channels == 1) {
    convert_pixels<Src, 1, T>(src.samples, dst.samples);
  } else {
    convert_pixels<Src, 3, T>(src.samples, dst.samples);
  }
}

template <typename T>
void convert(PixelSpan<const T> src, PixelSpan<T> dst) {
  RG_ASSERT(dst.channels == 1 || dst.channels == 3);
  RG_ASSERT(src.channels >= 1 && src.channels <= 4);
  RG_ASSERT(src.samples.size() / static_cast<std::size_t>(src.channels) ==
            dst.samples.size() / static_cast<std::size_t>(dst.channels));
  if (src.channels == 1) convert_to<1>(src, dst);
  if (src.channels == 2) convert_to<2>(src, dst);
  if (src.channels == 3) convert_to<3>(src, dst);
  if (src.channels == 4) convert_to<4>(src, dst);
}

}  // namespace

void convert_channels(PixelSpan<const std::uint8_t> src, PixelSpan<std::uint8_t> dst) { convert(src, dst); }
void convert_channels(PixelSpan<const std::uint16_t> src, PixelSpan<std::uint16_t> dst) { convert(src, dst); }

void make_gray(const Image& colour, Image& out) {
  ImageLayout layout = colour.layout();
  layout.channels = 1;
  out.reset(layout, colour.part());
  with_sample_type(layout.bits, [&](auto sample) {
    using Sample = decltype(sample);
    convert_channels({colour.samples<Sample>(), 3}, {out.samples<Sample>(), 1});
  });
}

bool has_equal_channels(const Image& colour) {
  return with_sample_type(colour.layout().bits, [&](auto sample) {
    const auto samples = colour.samples<decltype(sample)>();
    for (std::size_t i = 0; i < samples.size(); i += 3) {
      if (samples[i] != samples[i + 1] || samples[i] != samples[i + 2]) return false;
    }
    return true;
  });
}

}  // namespace roentgen::data
