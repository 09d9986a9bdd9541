// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The kernel behind normalise.h.
#include "engine/cuda/normalise.h"

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include "core/error.h"
#include "runtime/cuda/check.h"
#include "runtime/cuda/stream.h"

namespace roentgen::engine::cuda {
namespace {

constexpr int kThreads = 256;

/// All channels of one pixel: one aligned store of 8 to 16 bytes, two for eight floats.
template <typename T, int Channels>
struct alignas(sizeof(T) * Channels < 16 ? sizeof(T) * Channels : 16) Pixel {
  T channel[Channels];
};

struct Constants {
  float scale[3];
  float shift[3];
};

__device__ void convert(float value, float& out) { out = value; }
__device__ void convert(float value, __nv_bfloat16& out) { out = __float2bfloat16_rn(value); }

// Planes of integers to interleaved, scaled pixels.
// Grid: x = ceil(images * pixels / kThreads) blocks of kThreads threads; one thread, one pixel of one image.
// Reads: channels * sizeof(Src) bytes a pixel, neighbouring threads neighbouring samples of one plane.
// Writes: DstChannels * sizeof(Dst) bytes a pixel, neighbouring threads neighbouring pixels. Nothing is read twice, so
// the memory roof is the floor: u8 to bf16 x 8 is 17 bytes a gray pixel, nearly all of it the writing.
// Source: the plain transpose-and-scale of any uint8 input path; no algorithm to cite.
template <typename Src, typename Dst, int DstChannels>
__global__ void __launch_bounds__(kThreads)
    normalise_kernel(const Src* __restrict__ src, Pixel<Dst, DstChannels>* __restrict__ dst, std::int64_t all_pixels,
                     std::int64_t pixels, int channels, Constants constants) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= all_pixels) return;
  const std::int64_t image = i / pixels;
  const Src* sample = src + image * channels * pixels + (i - image * pixels);
  Pixel<Dst, DstChannels> out;
#pragma unroll
  for (int c = 0; c < DstChannels; ++c) {
    float value = 0.0F;
    if (c < 3 && c < channels) {
      value = fmaf(static_cast<float>(sample[c * pixels]), constants.scale[c % 3], constants.shift[c % 3]);
    }
    convert(value, out.channel[c]);
  }
  dst[i] = out;
}

template <typename Src, typename Dst, int DstChannels>
void launch(cudaStream_t stream, const Normalise& work, const std::byte* src, std::byte* dst) {
  const std::int64_t all_pixels = work.images * work.pixels;
  const auto blocks = static_cast<unsigned>((all_pixels + kThreads - 1) / kThreads);
  const Constants constants{{work.scale[0], work.scale[1], work.scale[2]},
                            {work.shift[0], work.shift[1], work.shift[2]}};
  normalise_kernel<Src, Dst, DstChannels><<<blocks, kThreads, 0, stream>>>(
      reinterpret_cast<const Src*>(src), reinterpret_cast<Pixel<Dst, DstChannels>*>(dst), all_pixels, work.pixels,
      static_cast<int>(work.channels), constants);
}

using Launch = void (*)(cudaStream_t, const Normalise&, const std::byte*, std::byte*);

template <typename Src, typename Dst>
Launch choose_channels(const Normalise& work) {
  return work.dst_channels == 4 ? &launch<Src, Dst, 4> : &launch<Src, Dst, 8>;
}
template <typename Src>
Launch choose_dst(const Normalise& work) {
  return work.dst == DType::F32 ? choose_channels<Src, float>(work) : choose_channels<Src, __nv_bfloat16>(work);
}
Launch choose(const Normalise& work) {
  return work.src == DType::U8 ? choose_dst<std::uint8_t>(work) : choose_dst<std::uint16_t>(work);
}

void require_room(std::string_view what, std::size_t needed, std::size_t room) {
  if (room >= needed) return;
  throw ShapeError(
      error_text("engine.cuda.normalise", what, std::to_string(needed) + " bytes or more", std::to_string(room)));
}

}  // namespace

void normalise(runtime::Stream& stream, const Normalise& work, const runtime::DeviceBuffer& src,
               runtime::DeviceBuffer& dst) {
  check_normalise(work);
  require_room("src", src_bytes(work), src.size_bytes());
  require_room("dst", dst_bytes(work), dst.size_bytes());
  choose(work)(runtime::cuda::as_cuda(stream).launch_handle(), work, src.address(), dst.address());
  runtime::cuda::check(cudaGetLastError(), "launch of normalise");
}

}  // namespace roentgen::engine::cuda
