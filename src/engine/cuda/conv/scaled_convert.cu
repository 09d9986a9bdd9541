// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernel of scaled_convert.h.
#include "engine/cuda/conv/scaled_convert.h"

#include "engine/cuda/launch.h"
#include "engine/cuda/typed.h"

namespace roentgen::engine::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWide = 8;

// Computes to = from * factor, limited to [-limit, limit]. Grid: x blocks of kThreads packs of N. Reads and writes each
// element once: 4 bytes between bf16 and f16.
template <typename From, typename To, int N>
__global__ void __launch_bounds__(kThreads)
    scaled_kernel(const From* from, To* to, std::int64_t packs, float factor, float limit) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= packs) return;
  const Pack<From, N> read = load_pack<N>(from + i * N);
  Pack<To, N> result;
  RG_UNROLL
  for (int k = 0; k < N; ++k) {
    const float value = to_float(read.at[k]) * factor;
    // Comparisons with NaN are false, so NaN stays NaN.
    convert(value > limit ? limit : value < -limit ? -limit : value, result.at[k]);
  }
  store_pack(to + i * N, result);
}

}  // namespace

void convert_scaled(runtime::Stream& stream, TypedPointer from, TypedPointer to, std::int64_t count,
                    const ScaledConversion& conversion) {
  const bool is_whole = count % kWide == 0;
  const std::int64_t packs = is_whole ? count / kWide : count;
  const Grid grid{.blocks = dim3(static_cast<unsigned>(ceil_div(packs, kThreads))), .threads = dim3(kThreads)};
  with_type(from.type, [&](auto source) {
    with_type(to.type, [&](auto target) {
      using From = decltype(source);
      using To = decltype(target);
      launch(stream, "launch of a scaled conversion", grid,
             is_whole ? &scaled_kernel<From, To, kWide> : &scaled_kernel<From, To, 1>, typed<From>(from.address),
             typed<To>(to.address), packs, conversion.factor, conversion.limit);
    });
  });
}

}  // namespace roentgen::engine::cuda
