// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernel of normalise.h.
#include "engine/cuda/normalise.h"

#include <algorithm>

#include "core/error.h"
#include "engine/cuda/launch.h"

namespace roentgen::engine::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kPixels = 4;  // pixels per thread

struct Constants {
  float scale[3];
  float shift[3];
};

// Converts planes of integers to interleaved, scaled pixels. Grid: x = blocks of kThreads * kPixels pixels, y = images
// in strides of gridDim.y. A thread has every kThreads-th pixel. Reads channels * sizeof(Src) bytes per pixel;
// neighbouring threads read neighbouring samples of a plane. Writes DstChannels * sizeof(Dst) bytes per pixel;
// neighbouring threads write neighbouring pixels. Reads nothing twice, so memory bandwidth is the limit: u8 to bf16 x 8
// moves 17 bytes per gray pixel, of which 16 are written.
template <typename Src, typename Dst, int DstChannels>
__global__ void __launch_bounds__(kThreads)
    normalise_kernel(const Src* __restrict__ src, Dst* __restrict__ dst, std::int64_t images, std::int64_t pixels,
                     int channels, Constants constants) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kThreads * kPixels + threadIdx.x;
  for (std::int64_t image = blockIdx.y; image < images; image += gridDim.y) {
    Src sample[kPixels][3] = {};
    RG_UNROLL
    for (int i = 0; i < kPixels; ++i) {
      RG_UNROLL
      for (int c = 0; c < 3; ++c) {
        const std::int64_t pixel = first + i * kThreads;
        if (c < channels && pixel < pixels) sample[i][c] = src[(image * channels + c) * pixels + pixel];
      }
    }
    RG_UNROLL
    for (int i = 0; i < kPixels; ++i) {
      const std::int64_t pixel = first + i * kThreads;
      if (pixel >= pixels) continue;
      Pack<Dst, DstChannels> out;
      RG_UNROLL
      for (int c = 0; c < DstChannels; ++c) {
        float value = 0.0F;
        if (c < 3 && c < channels) {
          value = fmaf(static_cast<float>(sample[i][c % 3]), constants.scale[c % 3], constants.shift[c % 3]);
        }
        convert(value, out.at[c]);
      }
      store_pack(dst + (image * pixels + pixel) * DstChannels, out);
    }
  }
}

template <typename Src, typename Dst, int DstChannels>
void launch_normalise(runtime::Stream& stream, const Normalise& work, const std::byte* src, std::byte* dst) {
  constexpr std::int64_t kMostImages = 65535;
  const Constants constants{{work.scale[0], work.scale[1], work.scale[2]},
                            {work.shift[0], work.shift[1], work.shift[2]}};
  const Grid grid{.blocks = dim3(static_cast<unsigned>(ceil_div(work.pixels, kThreads * kPixels)),
                                 static_cast<unsigned>(std::min(work.images, kMostImages))),
                  .threads = dim3(kThreads)};
  launch(stream, "launch of normalise", grid, &normalise_kernel<Src, Dst, DstChannels>,
         reinterpret_cast<const Src*>(src), reinterpret_cast<Dst*>(dst), work.images, work.pixels,
         static_cast<int>(work.channels), constants);
}

using Launch = void (*)(runtime::Stream&, const Normalise&, const std::byte*, std::byte*);

template <typename Src, typename Dst>
Launch choose_channels(const Normalise& work) {
  return work.dst_channels == 4 ? &launch_normalise<Src, Dst, 4> : &launch_normalise<Src, Dst, 8>;
}
template <typename Src>
Launch choose_dst(const Normalise& work) {
  if (work.dst == DType::F16) return choose_channels<Src, F16>(work);
  return work.dst == DType::F32 ? choose_channels<Src, float>(work) : choose_channels<Src, Bf16>(work);
}
Launch choose(const Normalise& work) {
  return work.src == DType::U8 ? choose_dst<std::uint8_t>(work) : choose_dst<std::uint16_t>(work);
}

}  // namespace

void normalise(runtime::Stream& stream, const Normalise& work, const std::byte* src, std::byte* dst) {
  check_normalise(work);
  choose(work)(stream, work, src, dst);
}

}  // namespace roentgen::engine::cuda
