// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernels of wire.h. Their grids: x tiles of kTile values of a share, y segments, z ranks (one for means).
#include "engine/cuda/elementwise/wire.h"

#include <algorithm>

#include "core/error.h"
#include "engine/cuda/launch.h"
#include "engine/cuda/typed.h"

namespace roentgen::engine::cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kTile = 8 * kThreads;
constexpr std::int64_t kMostBlocksOfY = 65'535;

/// Division of a bucket of `count` values, see runtime::RankShares.
struct Division {
  std::int64_t count = 0;
  std::int64_t segment = 1;
  std::int64_t ranks = 1;
  std::int64_t stride = 0;
  std::int64_t segments = 0;  ///< their number
};

/// Share of a rank in a segment.
struct SharePlace {
  std::int64_t in_bucket = 0;  ///< index of its first value in the bucket
  std::int64_t in_rank = 0;    ///< number of values of the rank in earlier segments
  std::int64_t count = 0;
};
__device__ inline SharePlace place_of(const Division& d, std::int64_t segment, std::int64_t rank) {
  const std::int64_t begin = segment * d.segment;
  const std::int64_t count = d.count - begin < d.segment ? d.count - begin : d.segment;
  const std::int64_t first = count * rank / d.ranks;
  const std::int64_t whole = d.segment * (rank + 1) / d.ranks - d.segment * rank / d.ranks;
  return {begin + first, segment * whole, count * (rank + 1) / d.ranks - first};
}

// Calls work(i) for the values of a share that this thread computes.
template <typename Work>
__device__ inline void for_each_value(std::int64_t count, const Work& work) {
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * kTile;
  const std::int64_t end = begin + kTile < count ? begin + kTile : count;
  for (std::int64_t i = begin + threadIdx.x; i < end; i += kThreads) work(i);
}

// Rounds a bucket into the order of ranks. Reads 4 bytes and writes 2 per value.
template <typename T>
__global__ void __launch_bounds__(kThreads) narrow_kernel(const float* bucket, T* by_ranks, Division division) {
  const std::int64_t rank = blockIdx.z;
  for (std::int64_t segment = blockIdx.y; segment < division.segments; segment += gridDim.y) {
    const SharePlace place = place_of(division, segment, rank);
    const float* const src = bucket + place.in_bucket;
    T* const dst = by_ranks + rank * division.stride + place.in_rank;
    for_each_value(place.count, [&](std::int64_t i) { convert(src[i], dst[i]); });
  }
}

// Converts values in the order of ranks to f32. Reads 2 bytes and writes 4 per value.
template <typename T>
__global__ void __launch_bounds__(kThreads) widen_kernel(const T* by_ranks, float* bucket, Division division) {
  const std::int64_t rank = blockIdx.z;
  for (std::int64_t segment = blockIdx.y; segment < division.segments; segment += gridDim.y) {
    const SharePlace place = place_of(division, segment, rank);
    const T* const src = by_ranks + rank * division.stride + place.in_rank;
    float* const dst = bucket + place.in_bucket;
    for_each_value(place.count, [&](std::int64_t i) { dst[i] = to_float(src[i]); });
  }
}

// Computes the mean over ranks of the shares of `own`, in the order of ranks. Reads 4 bytes of this rank and 2 of each
// other rank per value, and writes 2.
template <typename T>
__global__ void __launch_bounds__(kThreads) rank_mean_kernel(const float* bucket, const T* received, T* mean,
                                                             Division division, std::int64_t own, float factor) {
  for (std::int64_t segment = blockIdx.y; segment < division.segments; segment += gridDim.y) {
    const SharePlace place = place_of(division, segment, own);
    for_each_value(place.count, [&](std::int64_t i) {
      float sum = 0.0F;
      for (std::int64_t rank = 0; rank < division.ranks; ++rank) {
        const std::int64_t other = rank < own ? rank : rank - 1;
        const float value =
            rank == own ? bucket[place.in_bucket + i] : to_float(received[other * division.stride + place.in_rank + i]);
        sum = rank == 0 ? value : sum + value;
      }
      convert(sum * factor, mean[place.in_rank + i]);
    });
  }
}

[[nodiscard]] Division division_of(std::size_t count, const runtime::RankShares& shares) {
  return {.count = static_cast<std::int64_t>(count),
          .segment = static_cast<std::int64_t>(shares.segment),
          .ranks = shares.ranks,
          .stride = static_cast<std::int64_t>(shares.stride),
          .segments = ceil_div(static_cast<std::int64_t>(count), static_cast<std::int64_t>(shares.segment))};
}
// Grid for one share of each of `ranks` ranks in each segment of a bucket that is not empty.
[[nodiscard]] Grid grid_of(const Division& division, int ranks) {
  const std::int64_t largest = ceil_div(std::min(division.segment, division.count), division.ranks);
  return {
      .blocks = dim3(static_cast<unsigned>(ceil_div(largest, kTile)),
                     static_cast<unsigned>(std::min(division.segments, kMostBlocksOfY)), static_cast<unsigned>(ranks)),
      .threads = dim3(kThreads)};
}

class CudaWireKernels final : public runtime::WireKernels {
 public:
  void narrow(runtime::Stream& stream, DType wire, runtime::DeviceSpan<float> bucket,
              runtime::DeviceSpan<std::uint16_t> by_ranks, const runtime::RankShares& shares) const override {
    if (bucket.count == 0) return;
    const Division division = division_of(bucket.count, shares);
    with_type(wire, [&](auto number) {
      using T = decltype(number);
      launch(stream, "launch of a conversion for ranks", grid_of(division, shares.ranks), &narrow_kernel<T>,
             bucket.address, reinterpret_cast<T*>(by_ranks.address), division);
    });
  }
  void widen(runtime::Stream& stream, DType wire, runtime::DeviceSpan<std::uint16_t> by_ranks,
             runtime::DeviceSpan<float> bucket, const runtime::RankShares& shares) const override {
    if (bucket.count == 0) return;
    const Division division = division_of(bucket.count, shares);
    with_type(wire, [&](auto number) {
      using T = decltype(number);
      launch(stream, "launch of a conversion of ranks", grid_of(division, shares.ranks), &widen_kernel<T>,
             reinterpret_cast<const T*>(by_ranks.address), bucket.address, division);
    });
  }
  void mean_of_ranks(runtime::Stream& stream, const runtime::RankMean& work) const override {
    if (work.mean.count == 0) return;
    RG_ASSERT(work.rank >= 0 && work.rank < work.shares.ranks);
    const Division division = division_of(work.bucket.count, work.shares);
    with_type(work.wire, [&](auto number) {
      using T = decltype(number);
      launch(stream, "launch of a mean of ranks", grid_of(division, 1), &rank_mean_kernel<T>, work.bucket.address,
             reinterpret_cast<const T*>(work.received.address), reinterpret_cast<T*>(work.mean.address), division,
             static_cast<std::int64_t>(work.rank), work.factor);
    });
  }
};

}  // namespace

const runtime::WireKernels& wire_kernels() {
  static const CudaWireKernels kernels;
  return kernels;
}

}  // namespace roentgen::engine::cuda
