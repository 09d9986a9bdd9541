// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernels of window.h.
#include "engine/cuda/pool/window.h"

#include "engine/cuda/launch.h"
#include "engine/cuda/typed.h"

namespace roentgen::engine::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWide = 8;

// Range [begin, end) along an axis.
struct Range {
  int begin, end;
};

// Pixels of window or region `o` that are inside the image.
template <PoolOp Op>
__device__ Range pixels_of(const PoolAxis& axis, int o) {
  if constexpr (Op == PoolOp::Region) {
    const std::int64_t size = axis.size;
    return {static_cast<int>(o * size / axis.out), static_cast<int>(((o + 1) * size + axis.out - 1) / axis.out)};
  }
  const int begin = o * axis.stride - axis.pad, end = begin + axis.kernel;
  return {begin < 0 ? 0 : begin, end > axis.size ? axis.size : end};
}

// Windows or regions that contain pixel i.
template <PoolOp Op>
__device__ Range windows_of(const PoolAxis& axis, int i) {
  if constexpr (Op == PoolOp::Region) {
    const std::int64_t out = axis.out;
    const int begin = static_cast<int>(i * out / axis.size);
    return {begin, static_cast<int>(((i + 1) * out + axis.size - 1) / axis.size)};
  }
  const int first = i + axis.pad - axis.kernel;
  const int begin = first < 0 ? 0 : first / axis.stride + 1, end = (i + axis.pad) / axis.stride + 1;
  return {begin, end > axis.out ? axis.out : end};
}

template <PoolOp Op>
__device__ float share_of(const Pooling& pooling, const Range& rows, const Range& columns) {
  const int pixels = Op == PoolOp::AverageWithPad ? pooling.height.kernel * pooling.width.kernel
                                                  : (rows.end - rows.begin) * (columns.end - columns.begin);
  return 1.0F / static_cast<float>(pixels);
}

// Position of a thread: 8 channels of one pixel of an image of `height` by `width`.
struct Place {
  std::int64_t image;
  int row, column, channel;
};
__device__ bool place_of_thread(const Pooling& pooling, int height, int width, Place& place) {
  std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const std::int64_t packs = pooling.channels / kWide;
  if (i >= pooling.images * height * width * packs) return false;
  place.channel = static_cast<int>(i % packs) * kWide;
  i /= packs;
  place.column = static_cast<int>(i % width);
  i /= width;
  place.row = static_cast<int>(i % height);
  place.image = i / height;
  return true;
}

// Computes one result in 8 channels per thread. Grid: x blocks of kThreads threads; neighbouring threads have
// neighbouring channels. Reads the window's pixels; those shared with neighbouring windows come from the caches. Writes
// dst, and winner if requested: in bf16, 2 bytes per source element and 3 per result.
template <PoolOp Op, typename T, typename Number>
__global__ void __launch_bounds__(kThreads)
    pool_kernel(Pooling pooling, const T* __restrict__ src, T* __restrict__ dst, Number* __restrict__ winner) {
  Place place{};
  if (!place_of_thread(pooling, pooling.height.out, pooling.width.out, place)) return;
  const Range rows = pixels_of<Op>(pooling.height, place.row), columns = pixels_of<Op>(pooling.width, place.column);
  const int top = place.row * pooling.height.stride - pooling.height.pad;
  const int left = place.column * pooling.width.stride - pooling.width.pad;
  Pack<float, kWide> result{};
  Pack<Number, kWide> won{};
  bool is_first = true;
  for (int h = rows.begin; h < rows.end; ++h) {
    for (int w = columns.begin; w < columns.end; ++w) {
      const std::int64_t pixel = (place.image * pooling.height.size + h) * pooling.width.size + w;
      const Pack<T, kWide> read = load_pack<kWide>(src + pixel * pooling.channels + place.channel);
      RG_UNROLL
      for (int k = 0; k < kWide; ++k) {
        const float value = to_float(read.at[k]);
        if constexpr (Op == PoolOp::Max) {
          // NaN counts as larger than any number, and the last NaN wins, as in engine/cpu.
          if (!is_first && !(value > result.at[k]) && value == value) continue;
          result.at[k] = value;
          won.at[k] = static_cast<Number>((h - top) * pooling.width.kernel + (w - left));
        } else {
          result.at[k] += value;
        }
      }
      is_first = false;
    }
  }
  const float share = Op == PoolOp::Max ? 1.0F : share_of<Op>(pooling, rows, columns);
  Pack<T, kWide> written;
  RG_UNROLL
  for (int k = 0; k < kWide; ++k) convert(result.at[k] * share, written.at[k]);
  const std::int64_t pixel = (place.image * pooling.height.out + place.row) * pooling.width.out + place.column;
  store_pack(dst + pixel * pooling.channels + place.channel, written);
  if (winner != nullptr) store_pack(winner + pixel * pooling.channels + place.channel, won);
}

// Computes one pixel of diff_src in 8 channels per thread. Same grid as pool_kernel(). Reads diff_dst and winner of all
// windows that contain the pixel, and writes the pixel: the bytes of pool_kernel().
template <PoolOp Op, typename T, typename Number>
__global__ void __launch_bounds__(kThreads)
    gradient_kernel(Pooling pooling, const T* __restrict__ diff_dst, const Number* __restrict__ winner,
                    T* __restrict__ diff_src) {
  Place place{};
  if (!place_of_thread(pooling, pooling.height.size, pooling.width.size, place)) return;
  const Range rows = windows_of<Op>(pooling.height, place.row), columns = windows_of<Op>(pooling.width, place.column);
  Pack<float, kWide> sum{};
  for (int oh = rows.begin; oh < rows.end; ++oh) {
    for (int ow = columns.begin; ow < columns.end; ++ow) {
      const std::int64_t pixel = (place.image * pooling.height.out + oh) * pooling.width.out + ow;
      const Pack<T, kWide> read = load_pack<kWide>(diff_dst + pixel * pooling.channels + place.channel);
      if constexpr (Op == PoolOp::Max) {
        const Pack<Number, kWide> won = load_pack<kWide>(winner + pixel * pooling.channels + place.channel);
        const int h = place.row - (oh * pooling.height.stride - pooling.height.pad);
        const int w = place.column - (ow * pooling.width.stride - pooling.width.pad);
        RG_UNROLL
        for (int k = 0; k < kWide; ++k) {
          if (won.at[k] == h * pooling.width.kernel + w) sum.at[k] += to_float(read.at[k]);
        }
      } else {
        const float share = share_of<Op>(pooling, pixels_of<Op>(pooling.height, oh), pixels_of<Op>(pooling.width, ow));
        RG_UNROLL
        for (int k = 0; k < kWide; ++k) sum.at[k] = fmaf(to_float(read.at[k]), share, sum.at[k]);
      }
    }
  }
  Pack<T, kWide> written;
  RG_UNROLL
  for (int k = 0; k < kWide; ++k) convert(sum.at[k], written.at[k]);
  const std::int64_t pixel = (place.image * pooling.height.size + place.row) * pooling.width.size + place.column;
  store_pack(diff_src + pixel * pooling.channels + place.channel, written);
}

Grid grid_of(const Pooling& pooling, int height, int width) {
  const std::int64_t threads = pooling.images * height * width * (pooling.channels / kWide);
  return {.blocks = dim3(static_cast<unsigned>(ceil_div(threads, kThreads))), .threads = dim3(kThreads)};
}

// Calls body(operation, number), whose types give the operation and the integer type of winners.
template <PoolOp Op>
struct Operation {
  static constexpr PoolOp kOp = Op;
};
template <typename Body>
void with_operation(const Pooling& pooling, const Body& body) {
  switch (pooling.op) {
    case PoolOp::Max:
      return pooling.winner_bytes() == 1 ? body(Operation<PoolOp::Max>{}, std::uint8_t{})
                                         : body(Operation<PoolOp::Max>{}, std::uint16_t{});
    case PoolOp::AverageWithPad:
      return body(Operation<PoolOp::AverageWithPad>{}, std::uint8_t{});
    case PoolOp::AverageWithoutPad:
      return body(Operation<PoolOp::AverageWithoutPad>{}, std::uint8_t{});
    default:
      return body(Operation<PoolOp::Region>{}, std::uint8_t{});
  }
}

}  // namespace

void pool(runtime::Stream& stream, const Pooling& pooling, const std::byte* src, std::byte* dst, std::byte* winner) {
  with_type(pooling.type, [&](auto number) {
    with_operation(pooling, [&](auto operation, auto winner_number) {
      using T = decltype(number);
      using Number = decltype(winner_number);
      launch(stream, "launch of a pooling", grid_of(pooling, pooling.height.out, pooling.width.out),
             &pool_kernel<decltype(operation)::kOp, T, Number>, pooling, reinterpret_cast<const T*>(src), typed<T>(dst),
             typed<Number>(winner));
    });
  });
}

void pool_gradient(runtime::Stream& stream, const Pooling& pooling, const std::byte* diff_dst, const std::byte* winner,
                   std::byte* diff_src) {
  with_type(pooling.type, [&](auto number) {
    with_operation(pooling, [&](auto operation, auto winner_number) {
      using T = decltype(number);
      using Number = decltype(winner_number);
      launch(stream, "launch of a pooling gradient", grid_of(pooling, pooling.height.size, pooling.width.size),
             &gradient_kernel<decltype(operation)::kOp, T, Number>, pooling, reinterpret_cast<const T*>(diff_dst),
             reinterpret_cast<const Number*>(winner), typed<T>(diff_src));
    });
  });
}

}  // namespace roentgen::engine::cuda
