// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernel of channel_copy.h.
#include "engine/cuda/elementwise/channel_copy.h"

#include "engine/cuda/launch.h"
#include "engine/cuda/typed.h"

namespace roentgen::engine::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWide = 8;

// Grid: x blocks of kThreads packs of N channels. Neighbouring threads process neighbouring packs of a row. All numbers
// of channels are multiples of N. Reads and writes each element once: 4 bytes in bf16.
template <typename T, int N>
__global__ void __launch_bounds__(kThreads) copy_kernel(ChannelCopy work) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t packs = work.written / N;
  if (i >= work.from.rows * packs) return;
  const std::int64_t row = i / packs, channel = i % packs * N;
  const T* const from = reinterpret_cast<const T*>(work.from.values.address);
  T* const to = reinterpret_cast<T*>(work.to.values.address);
  Pack<T, N> pack;
  if (channel < work.count) {
    pack = load_pack<N>(from + row * work.from.channels + work.from_begin + channel);
  } else {
    RG_UNROLL
    for (int k = 0; k < N; ++k) convert(0.0F, pack.at[k]);
  }
  store_pack(to + row * work.to.channels + work.to_begin + channel, pack);
}

}  // namespace

void copy_channels(runtime::Stream& stream, const ChannelCopy& work) {
  bool is_whole = true;
  for (const std::int64_t channels :
       {work.from.channels, work.to.channels, work.from_begin, work.to_begin, work.count, work.written}) {
    is_whole = is_whole && channels % kWide == 0;
  }
  const std::int64_t threads = work.from.rows * work.written / (is_whole ? kWide : 1);
  with_type(work.from.values.type, [&](auto number) {
    using T = decltype(number);
    launch(stream, "launch of a copy of channels",
           {.blocks = dim3(static_cast<unsigned>(ceil_div(threads, kThreads))), .threads = dim3(kThreads)},
           is_whole ? &copy_kernel<T, kWide> : &copy_kernel<T, 1>, work);
  });
}

}  // namespace roentgen::engine::cuda
