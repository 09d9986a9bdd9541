// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernel of reorder.h.
#include "engine/cuda/elementwise/reorder.h"

#include "engine/cuda/launch.h"
#include "engine/cuda/typed.h"

namespace roentgen::engine::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWide = 8;

// Distances between neighbours: element (n, c, p) is at n * image + c * channel + p * pixel.
struct Strides {
  std::int64_t image, channel, pixel;
};
struct Extents {
  std::int64_t images, channels, pixels;
  std::int64_t padded;  // channels of the result, padding included
};

// Computes to = from. Grid: x blocks of kThreads threads. A thread has one pixel of one image and up to 8 of its
// channels. Neighbouring threads have neighbouring pixels, so that accesses to planes are adjacent. Accesses to
// channels-last memory are 8 channels long. Reads and writes each element once: 6 bytes from f32 to a 16-bit type.
template <typename From, typename To>
__global__ void __launch_bounds__(kThreads)
    reorder_kernel_of(const From* from, Strides source, To* to, Strides target, Extents extents) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t groups = (extents.padded + kWide - 1) / kWide;
  if (i >= extents.images * groups * extents.pixels) return;
  const std::int64_t pixel = i % extents.pixels, rest = i / extents.pixels;
  const std::int64_t channel = rest % groups * kWide, image = rest / groups;
  const From* const read = from + image * source.image + channel * source.channel + pixel * source.pixel;
  To* const written = to + image * target.image + channel * target.channel + pixel * target.pixel;
  Pack<To, kWide> pack;
  RG_UNROLL
  for (int k = 0; k < kWide; ++k) {
    convert(channel + k < extents.channels ? to_float(read[k * source.channel]) : 0.0F, pack.at[k]);
  }
  if (target.channel == 1 && extents.padded % kWide == 0) {
    store_pack(written, pack);
    return;
  }
  if (target.channel == 1 && extents.padded == kWide / 2) {
    Pack<To, kWide / 2> half;
    RG_UNROLL
    for (int k = 0; k < kWide / 2; ++k) half.at[k] = pack.at[k];
    store_pack(written, half);
    return;
  }
  RG_UNROLL
  for (int k = 0; k < kWide; ++k) {
    if (channel + k < extents.padded) written[k * target.channel] = pack.at[k];
  }
}

Strides strides_of(const Located& located) {
  const std::int64_t channels = padded_channels(located.shape, located.layout);
  const std::int64_t area = pixels(located.shape);
  if (located.layout.order == Order::ChannelsLast) return {channels * area, 1, channels};
  return {channels * area, area, 1};
}

}  // namespace

std::unique_ptr<Kernel> reorder_kernel(const Located& from, const Located& to, runtime::Stream* stream) {
  const Extents extents{from.shape[0], from.shape[1], pixels(from.shape), padded_channels(to.shape, to.layout)};
  const std::int64_t threads = extents.images * ceil_div(extents.padded, kWide) * extents.pixels;
  const Grid grid{.blocks = dim3(static_cast<unsigned>(ceil_div(threads, kThreads))), .threads = dim3(kThreads)};
  return make_kernel([=, source = strides_of(from), target = strides_of(to)](const Addresses& at) {
    return [=, read = at.bytes(from.tensor), written = at.bytes(to.tensor)] {
      with_type(from.layout.dtype, [&](auto wide) {
        with_type(to.layout.dtype, [&](auto narrow) {
          using From = decltype(wide);
          using To = decltype(narrow);
          launch(*stream, "launch of a reorder", grid, &reorder_kernel_of<From, To>, typed<From>(read), source,
                 typed<To>(written), target, extents);
        });
      });
    };
  });
}

}  // namespace roentgen::engine::cuda
