// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernels of wire.h. Conversions are those of flat.h.
#include "engine/cuda/elementwise/wire.h"

#include "core/error.h"
#include "engine/cuda/elementwise/flat.h"
#include "engine/cuda/launch.h"
#include "engine/cuda/typed.h"

namespace roentgen::engine::cuda {
namespace {

constexpr int kThreads = 256;

/// Order and factor of a sum over ranks; see runtime::RankMean.
struct RankOrder {
  std::int64_t stride = 0;
  int others = 0;
  int own_at = 0;
  float factor = 1.0F;
};

// Computes mean[i] = factor * sum over ranks, in the order of ranks. Grid: x blocks of kThreads elements. Reads 4 bytes
// of this rank and 2 of each other rank per element, and writes 2.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    rank_mean_kernel(const float* own, const T* received, T* mean, std::int64_t count, RankOrder order) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= count) return;
  float sum = 0.0F;
  for (int rank = 0; rank <= order.others; ++rank) {
    const int other = rank < order.own_at ? rank : rank - 1;
    const float value = rank == order.own_at ? own[i] : to_float(received[other * order.stride + i]);
    sum = rank == 0 ? value : sum + value;
  }
  convert(sum * order.factor, mean[i]);
}

[[nodiscard]] TypedPointer typed_pointer(runtime::DeviceSpan<float> span) {
  return {DType::F32, reinterpret_cast<std::byte*>(span.address)};
}
[[nodiscard]] TypedPointer typed_pointer(DType type, runtime::DeviceSpan<std::uint16_t> span) {
  return {type, reinterpret_cast<std::byte*>(span.address)};
}

class CudaWireKernels final : public runtime::WireKernels {
 public:
  void narrow(runtime::Stream& stream, DType wire, runtime::DeviceSpan<float> src,
              runtime::DeviceSpan<std::uint16_t> dst) const override {
    RG_ASSERT(src.count == dst.count);
    convert(stream, typed_pointer(src), typed_pointer(wire, dst), static_cast<std::int64_t>(src.count));
  }
  void widen(runtime::Stream& stream, DType wire, runtime::DeviceSpan<std::uint16_t> src,
             runtime::DeviceSpan<float> dst) const override {
    RG_ASSERT(src.count == dst.count);
    convert(stream, typed_pointer(wire, src), typed_pointer(dst), static_cast<std::int64_t>(src.count));
  }
  void mean_of_ranks(runtime::Stream& stream, const runtime::RankMean& work) const override {
    RG_ASSERT(work.own.count == work.mean.count && work.own_at <= work.others);
    const auto count = static_cast<std::int64_t>(work.own.count);
    if (count == 0) return;
    const Grid grid{.blocks = dim3(static_cast<unsigned>(ceil_div(count, kThreads))), .threads = dim3(kThreads)};
    const RankOrder order{.stride = static_cast<std::int64_t>(work.stride),
                          .others = work.others,
                          .own_at = work.own_at,
                          .factor = work.factor};
    with_type(work.wire, [&](auto number) {
      using T = decltype(number);
      launch(stream, "launch of a mean of ranks", grid, &rank_mean_kernel<T>, work.own.address,
             reinterpret_cast<const T*>(work.received.address), reinterpret_cast<T*>(work.mean.address), count, order);
    });
  }
};

}  // namespace

const runtime::WireKernels& wire_kernels() {
  static const CudaWireKernels kernels;
  return kernels;
}

}  // namespace roentgen::engine::cuda
