// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernels of norm_pool.h.
#include "engine/cuda/pool/norm_pool.h"

#include "core/error.h"
#include "engine/cuda/launch.h"

namespace roentgen::engine::cuda {
namespace {

constexpr int kWide = 8;  // channels per thread
constexpr int kThreads = 256;
// Rows of the pooled image per thread; their windows share input rows. With float32, more rows would not fit the
// registers.
template <typename T>
inline constexpr int kRows = sizeof(T) == 2 ? 2 : 1;

/// Sizes of the image in the form that the kernels need.
struct Extent {
  int height, width, out_height, out_width, packs;
  int row_groups;  // groups of kRows<T> rows of the pooled image
};

/// Work of a thread: one pack of channels at one position.
struct Place {
  std::int64_t image;
  int row, column, pack;
};
// Returns the thread's position. Threads are ordered by (image, row, column, pack).
__device__ Place place_of_thread(unsigned rows, unsigned columns, unsigned packs) {
  const unsigned index = blockIdx.x * kThreads + threadIdx.x;
  const unsigned pixel = index / packs, line = pixel / columns, image = line / rows;
  Place place{};
  place.pack = static_cast<int>(index - pixel * packs);
  place.column = static_cast<int>(pixel - line * columns);
  place.row = static_cast<int>(line - image * rows);
  place.image = image;
  return place;
}

__device__ int clamped(int i, int size) { return i < 0 ? 0 : i < size ? i : size - 1; }

// Type of the keys that order the elements of a window: x with the sign of the scale. It is wide enough that the lowest
// 4 bits are free for the element's index in the window.
template <typename T>
struct KeyOf {
  using Type = float;
};
template <>
struct KeyOf<float> {
  using Type = double;
};
constexpr unsigned kPlaceBits = 15;  // mask of the lowest 4 bits, which hold the index
constexpr int kMostPlaces = 14;      // code of a window's first element; the next larger code marks NaN

// A thread has 8 channels of one column and kRows rows of the pooled image, and reads all their windows at once. An
// element outside the image is replaced, value and index, by its neighbour inside, which belongs to the same window.
// Reads x; writes the result, the element of x that it came from, and its index: 13 bytes per result in bf16.
template <typename T>
__global__ void __launch_bounds__(kThreads, 2)
    pool_kernel(const T* __restrict__ x, const float* __restrict__ scales, const float* __restrict__ shifts,
                T* __restrict__ y, T* __restrict__ kept, std::uint8_t* __restrict__ winners, std::int64_t images,
                Extent extent) {
  using Key = typename KeyOf<T>::Type;
  using Bits = decltype(to_bits(Key{}));
  constexpr int kInputs = 2 * kRows<T> + 1;  // rows of x
  constexpr int kSignBit = 8 * static_cast<int>(sizeof(Bits)) - 1;
  const Place place = place_of_thread(extent.row_groups, extent.out_width, extent.packs);
  if (place.image >= images) return;
  const int channels = extent.packs * kWide;
  const int top = 2 * kRows<T> * place.row - 1, left = 2 * place.column - 1;
  const T* const image = x + place.image * extent.height * extent.width * channels + place.pack * kWide;
  Pack<T, kWide> read[kInputs][3];
  Bits code[kInputs][3];
  RG_UNROLL
  for (int i = 0; i < kInputs; ++i) {
    const int row = clamped(top + i, extent.height);
    const T* const line = image + static_cast<std::int64_t>(row) * extent.width * channels;
    RG_UNROLL
    for (int j = 0; j < 3; ++j) {
      const int column = clamped(left + j, extent.width);
      read[i][j] = load_pack<kWide>(line + column * channels);
      code[i][j] = static_cast<Bits>(kMostPlaces - 3 * (row - top) - (column - left));
    }
  }
  const Pack<float, kWide> scale = load_pack<kWide>(scales + place.pack * kWide);
  const Pack<float, kWide> shift = load_pack<kWide>(shifts + place.pack * kWide);
  Pack<T, kWide> out[kRows<T>], keep[kRows<T>];
  Pack<std::uint8_t, kWide> won[kRows<T>];
  RG_UNROLL
  for (int c = 0; c < kWide; ++c) {
    const Bits flip = static_cast<Bits>(to_bits(scale.at[c]) >> 31) << kSignBit;
    Key best[kRows<T>];
    RG_UNROLL
    for (int r = 0; r < kRows<T>; ++r) best[r] = -INFINITY;
    RG_UNROLL
    for (int i = 0; i < kInputs; ++i) {
      RG_UNROLL
      for (int j = 0; j < 3; ++j) {
        const Key key = from_bits((to_bits(static_cast<Key>(to_float(read[i][j].at[c]))) ^ flip) | code[i][j]);
        RG_UNROLL
        for (int r = 0; r < kRows<T>; ++r) {
          if (i >= 2 * r && i <= 2 * r + 2) best[r] = max_or_nan(best[r], key);
        }
      }
    }
    RG_UNROLL
    for (int r = 0; r < kRows<T>; ++r) {
      const Bits bits = to_bits(best[r]);
      const auto value = static_cast<float>(from_bits((bits & ~Bits{kPlaceBits}) ^ flip));
      const float z = fmaf(value, scale.at[c], shift.at[c]);
      convert(z < 0.0F ? 0.0F : z, out[r].at[c]);
      convert(value, keep[r].at[c]);
      won[r].at[c] = static_cast<std::uint8_t>(kMostPlaces - static_cast<int>(bits & kPlaceBits) - 6 * r);
    }
  }
  RG_UNROLL
  for (int r = 0; r < kRows<T>; ++r) {
    const int row = kRows<T> * place.row + r;
    if (row >= extent.out_height) continue;
    const std::int64_t at =
        ((place.image * extent.out_height + row) * extent.out_width + place.column) * channels + place.pack * kWide;
    store_pack(y + at, out[r]);
    if (kept != nullptr) store_pack(kept + at, keep[r]);
    if (winners != nullptr) store_pack(winners + at, won[r]);
  }
}

// A thread has 8 channels of 2 x 2 elements. They belong to the windows (row, row + 1) x (column, column + 1).
// Reads x, dy and indices, writes dx: 19 bytes per result in bf16. Windows are read by up to four threads, from cache.
template <typename T>
__global__ void __launch_bounds__(kThreads, 3)
    pool_gradient_kernel(const T* x, const T* __restrict__ g, const std::uint8_t* __restrict__ winners,
                         const float* __restrict__ scales, const float* __restrict__ slopes,
                         const float* __restrict__ offsets, T* dx, std::int64_t images, Extent extent) {
  const Place place = place_of_thread(extent.out_height, extent.out_width, extent.packs);
  if (place.image >= images) return;
  const int channels = extent.packs * kWide;
  const T* const of_image = g + place.image * extent.out_height * extent.out_width * channels + place.pack * kWide;
  const std::uint8_t* const won_by = winners + (of_image - g);
  const std::int64_t image = place.image * extent.height * extent.width * channels + place.pack * kWide;
  Pack<T, kWide> of_window[2][2], read[2][2];
  Pack<std::uint8_t, kWide> winner[2][2];
  RG_UNROLL
  for (int a = 0; a < 2; ++a) {
    RG_UNROLL
    for (int b = 0; b < 2; ++b) {
      const int row = clamped(place.row + a, extent.out_height), column = clamped(place.column + b, extent.out_width);
      const std::int64_t at = (static_cast<std::int64_t>(row) * extent.out_width + column) * channels;
      of_window[a][b] = load_pack<kWide>(of_image + at);
      winner[a][b] = load_pack<kWide>(won_by + at);
      const int x_row = clamped(2 * place.row + a, extent.height),
                x_column = clamped(2 * place.column + b, extent.width);
      read[a][b] =
          load_pack<kWide>(x + image + (static_cast<std::int64_t>(x_row) * extent.width + x_column) * channels);
    }
  }
  const Pack<float, kWide> scale = load_pack<kWide>(scales + place.pack * kWide);
  const Pack<float, kWide> slope = load_pack<kWide>(slopes + place.pack * kWide);
  const Pack<float, kWide> offset = load_pack<kWide>(offsets + place.pack * kWide);
  RG_UNROLL
  for (int i = 0; i < 2; ++i) {
    RG_UNROLL
    for (int j = 0; j < 2; ++j) {
      const int row = 2 * place.row + i, column = 2 * place.column + j;
      if (row >= extent.height || column >= extent.width) continue;
      Pack<T, kWide> out;
      RG_UNROLL
      for (int c = 0; c < kWide; ++c) {
        float sum = 0.0F;
        // Element (2 row + i) is at 1 + i - 2 a in the window of row + a.
        RG_UNROLL
        for (int a = 0; a <= i; ++a) {
          RG_UNROLL
          for (int b = 0; b <= j; ++b) {
            const bool exists = place.row + a < extent.out_height && place.column + b < extent.out_width;
            const int here = 3 * (1 + i - 2 * a) + 1 + j - 2 * b;
            if (exists && winner[a][b].at[c] == here) sum += to_float(of_window[a][b].at[c]);
          }
        }
        convert(fmaf(scale.at[c], sum, fmaf(-slope.at[c], to_float(read[i][j].at[c]), offset.at[c])), out.at[c]);
      }
      store_pack(dx + image + (static_cast<std::int64_t>(row) * extent.width + column) * channels, out);
    }
  }
}

void require(bool holds, std::string_view field, std::string_view expected, const std::string& got) {
  if (holds) return;
  throw ConfigError(
      error_text("engine.cuda.norm_pool", "max pooling, " + std::string(field), expected, got, "reporting this bug"));
}
void check_pool(const PoolShape& shape) {
  require(shape.type == DType::F32 || shape.type == DType::Bf16 || shape.type == DType::F16, "type", "f32, bf16 or f16",
          std::string(name_of(shape.type)));
  require(shape.channels > 0 && shape.channels % kWide == 0, "channels", "a multiple of 8",
          std::to_string(shape.channels));
  constexpr int kMost = 1 << 15;
  require(shape.height > 0 && shape.height <= kMost, "height", "1 to 2^15", std::to_string(shape.height));
  require(shape.width > 0 && shape.width <= kMost, "width", "1 to 2^15", std::to_string(shape.width));
  require(shape.images > 0 && shape.out_elements() / kWide < (std::int64_t{1} << 32) - kThreads, "images",
          "at least 1, with fewer than 2^35 pooled elements", std::to_string(shape.images));
}
template <typename T>
Extent extent_of(const PoolShape& shape) {
  return {shape.height,           shape.width,
          shape.out_height(),     shape.out_width(),
          shape.channels / kWide, static_cast<int>(ceil_div(shape.out_height(), kRows<T>))};
}
Grid grid_of(std::int64_t threads) {
  return {.blocks = dim3(static_cast<unsigned>(ceil_div(threads, kThreads))), .threads = dim3(kThreads)};
}

template <typename T>
void pool(runtime::Stream& stream, const PoolShape& shape, const NormPool& work) {
  const Extent extent = extent_of<T>(shape);
  const std::int64_t threads = shape.images * extent.row_groups * extent.out_width * extent.packs;
  launch(stream, "launch of norm_pool", grid_of(threads), &pool_kernel<T>, static_cast<const T*>(work.x), work.scale,
         work.shift, static_cast<T*>(work.y), static_cast<T*>(work.kept), work.winner, shape.images, extent);
}
template <typename T>
void gradient(runtime::Stream& stream, const PoolShape& shape, const NormPoolGradient& work) {
  launch(stream, "launch of norm_pool_gradient", grid_of(shape.out_elements() / kWide), &pool_gradient_kernel<T>,
         static_cast<const T*>(work.x), static_cast<const T*>(work.g), work.winner, work.scale, work.slope, work.offset,
         static_cast<T*>(work.dx), shape.images, extent_of<T>(shape));
}

}  // namespace

void norm_pool(runtime::Stream& stream, const PoolShape& shape, const NormPool& work) {
  check_pool(shape);
  if (shape.type == DType::Bf16) return pool<Bf16>(stream, shape, work);
  if (shape.type == DType::F16) return pool<F16>(stream, shape, work);
  pool<float>(stream, shape, work);
}

void norm_pool_gradient(runtime::Stream& stream, const PoolShape& shape, const NormPoolGradient& work) {
  check_pool(shape);
  if (shape.type == DType::Bf16) return gradient<Bf16>(stream, shape, work);
  if (shape.type == DType::F16) return gradient<F16>(stream, shape, work);
  gradient<float>(stream, shape, work);
}

}  // namespace roentgen::engine::cuda
