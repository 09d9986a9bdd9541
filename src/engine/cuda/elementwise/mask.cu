// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernel of mask.h.
#include "engine/cuda/elementwise/mask.h"

#include "core/random.h"
#include "engine/cuda/launch.h"
#include "engine/cuda/typed.h"

namespace roentgen::engine::cuda {
namespace {

constexpr int kThreads = 256;
// Number of elements per random stream.
constexpr std::int64_t kChunk = 1024;

// Finaliser of SplitMix64 (Steele et al. 2014), as in core/random.cpp.
__device__ std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

struct Block {
  std::uint32_t word[4];
};
// Philox4x32-10 (Salmon et al. 2011), as in core/random.cpp.
__device__ Block philox(Block x, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53} * x.word[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57} * x.word[2];
    x = {{static_cast<std::uint32_t>(p1 >> 32) ^ x.word[1] ^ key0, static_cast<std::uint32_t>(p1),
          static_cast<std::uint32_t>(p0 >> 32) ^ x.word[3] ^ key1, static_cast<std::uint32_t>(p0)}};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return x;
}
__device__ double uniform(std::uint32_t high, std::uint32_t low) {
  return static_cast<double>((static_cast<std::uint64_t>(high) << 32 | low) >> 11) * 0x1p-53;
}

// Each thread processes two neighbouring elements, since one block of the generator gives two numbers. Grid: x blocks
// of kThreads threads. Reads and writes each element once: 4 bytes in bf16. Draws the numbers again in backward.
template <typename T>
__global__ void __launch_bounds__(kThreads) mask_kernel(Mask work, std::uint32_t stage, float scale) {
  const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x) * 2;
  if (first >= work.count) return;
  const std::uint64_t chunk = static_cast<std::uint64_t>(first / kChunk);
  const std::uint64_t key = mix(mix(work.seed) ^ (static_cast<std::uint64_t>(stage) << 32 | chunk));
  const auto step = static_cast<std::uint64_t>(work.state->step);
  const Block drawn = philox({{static_cast<std::uint32_t>(first % kChunk / 2), 0, static_cast<std::uint32_t>(step),
                               static_cast<std::uint32_t>(step >> 32)}},
                             static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32));
  const T* const src = reinterpret_cast<const T*>(work.src);
  T* const dst = reinterpret_cast<T*>(work.dst);
  for (int k = 0; k < 2 && first + k < work.count; ++k) {
    const bool is_dropped = uniform(drawn.word[2 * k], drawn.word[2 * k + 1]) < work.probability;
    convert(is_dropped ? 0.0F : to_float(src[first + k]) * scale, dst[first + k]);
  }
}

}  // namespace

void mask(runtime::Stream& stream, const Mask& work) {
  const auto blocks = static_cast<unsigned>(ceil_div(ceil_div(work.count, 2), kThreads));
  const auto scale = static_cast<float>(1.0 / (1.0 - work.probability));
  with_type(work.type, [&](auto number) {
    using T = decltype(number);
    launch(stream, "launch of dropout", {.blocks = dim3(blocks), .threads = dim3(kThreads)}, &mask_kernel<T>, work,
           static_cast<std::uint32_t>(RandomStage::Dropout), scale);
  });
}

}  // namespace roentgen::engine::cuda
