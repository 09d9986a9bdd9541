// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernels of flat.h. Each thread processes a pack of 8 neighbouring elements, or one element if the count is not a
// multiple of 8. All kernels read each operand once and write the result once, so memory bandwidth limits their speed.
#include "engine/cuda/elementwise/flat.h"

#include <algorithm>

#include "core/error.h"
#include "engine/cuda/launch.h"
#include "engine/cuda/typed.h"

namespace roentgen::engine::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kWide = 8;
constexpr int kMostTerms = 8;

[[nodiscard]] Grid grid_of(std::int64_t threads) {
  return {.blocks = dim3(static_cast<unsigned>(ceil_div(threads, kThreads))), .threads = dim3(kThreads)};
}
__device__ std::int64_t thread_index() { return static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; }

struct Copy {
  static constexpr bool kHasTwo = false;
  __device__ static float of(float a, float) { return a; }
};
struct Relu {
  static constexpr bool kHasTwo = false;
  __device__ static float of(float a, float) { return a < 0.0F ? 0.0F : a; }
};
struct ReluBackward {
  static constexpr bool kHasTwo = true;
  __device__ static float of(float a, float b) { return a > 0.0F ? b : 0.0F; }
};
struct Sigmoid {
  static constexpr bool kHasTwo = false;
  __device__ static float of(float a, float) { return 1.0F / (1.0F + expf(-a)); }
};
struct SigmoidBackward {
  static constexpr bool kHasTwo = true;
  __device__ static float of(float a, float b) { return b * a * (1.0F - a); }
};
struct Silu {
  static constexpr bool kHasTwo = false;
  __device__ static float of(float a, float) { return a / (1.0F + expf(-a)); }
};
struct SiluBackward {
  static constexpr bool kHasTwo = true;
  __device__ static float of(float a, float b) {
    const float s = 1.0F / (1.0F + expf(-a));
    return b * s * fmaf(a, 1.0F - s, 1.0F);
  }
};

// Computes dst = Op(a, b). Grid: x blocks of kThreads packs of N. Reads one or two elements and writes one: 4 or 6
// bytes in bf16.
template <typename Op, typename T, int N>
__global__ void __launch_bounds__(kThreads) flat_kernel_of(const T* a, const T* b, T* dst, std::int64_t packs) {
  const std::int64_t i = thread_index();
  if (i >= packs) return;
  const Pack<T, N> first = load_pack<N>(a + i * N);
  Pack<T, N> second{}, result;
  if constexpr (Op::kHasTwo) second = load_pack<N>(b + i * N);
  RG_UNROLL
  for (int k = 0; k < N; ++k) convert(Op::of(to_float(first.at[k]), to_float(second.at[k])), result.at[k]);
  store_pack(dst + i * N, result);
}

template <typename Op, typename T>
void launch_flat(runtime::Stream& stream, const T* a, const T* b, T* dst, std::int64_t count) {
  if (count % kWide == 0) {
    launch(stream, "launch of an elementwise kernel", grid_of(count / kWide), &flat_kernel_of<Op, T, kWide>, a, b, dst,
           count / kWide);
  } else {
    launch(stream, "launch of an elementwise kernel", grid_of(count), &flat_kernel_of<Op, T, 1>, a, b, dst, count);
  }
}

template <typename Op>
std::unique_ptr<Kernel> make_flat(const FlatWork& work, runtime::Stream* stream) {
  return make_kernel([=](const Addresses& at) {
    return [=, a = at.bytes(work.a), b = work.b >= 0 ? at.bytes(work.b) : nullptr, dst = at.bytes(work.dst)] {
      with_type(work.type, [&](auto number) {
        using T = decltype(number);
        launch_flat<Op>(*stream, typed<T>(a), typed<T>(b), typed<T>(dst), work.count);
      });
    };
  });
}

template <typename T>
struct Terms {
  const T* at[kMostTerms];
};
// Computes dst = sum of terms. Grid: x blocks of kThreads packs of N. Reads `count` elements per element written.
template <typename T, int N>
__global__ void __launch_bounds__(kThreads) sum_kernel_of(Terms<T> terms, int count, T* dst, std::int64_t packs) {
  const std::int64_t i = thread_index();
  if (i >= packs) return;
  Pack<float, N> sum{};
  for (int term = 0; term < count; ++term) {
    const Pack<T, N> read = load_pack<N>(terms.at[term] + i * N);
    RG_UNROLL
    for (int k = 0; k < N; ++k) sum.at[k] = term == 0 ? to_float(read.at[k]) : sum.at[k] + to_float(read.at[k]);
  }
  Pack<T, N> result;
  RG_UNROLL
  for (int k = 0; k < N; ++k) convert(sum.at[k], result.at[k]);
  store_pack(dst + i * N, result);
}

// Converts elements to another type. Grid: x blocks of kThreads packs of N. Reads and writes each element once: 6 bytes
// between f32 and a 16-bit type.
template <typename From, typename To, int N>
__global__ void __launch_bounds__(kThreads) convert_kernel_of(const From* from, To* to, std::int64_t packs) {
  const std::int64_t i = thread_index();
  if (i >= packs) return;
  const Pack<From, N> read = load_pack<N>(from + i * N);
  Pack<To, N> result;
  RG_UNROLL
  for (int k = 0; k < N; ++k) convert(to_float(read.at[k]), result.at[k]);
  store_pack(to + i * N, result);
}

// Computes values[r][c] = Op(values[r][c] + bias[c]). Grid: x blocks of kThreads packs of N channels. The number of
// channels is a multiple of N. Reads and writes each value once: 4 bytes in bf16.
template <typename Op, typename T, int N>
__global__ void __launch_bounds__(kThreads)
    bias_kernel(T* values, const float* bias, std::int64_t packs, std::int64_t channels) {
  const std::int64_t i = thread_index();
  if (i >= packs) return;
  const std::int64_t channel = i * N % channels;
  Pack<T, N> pack = load_pack<N>(values + i * N);
  RG_UNROLL
  for (int k = 0; k < N; ++k) convert(Op::of(to_float(pack.at[k]) + bias[channel + k], 0.0F), pack.at[k]);
  store_pack(values + i * N, pack);
}

constexpr int kColumns = 32;                 // channels per block
constexpr int kLanes = kThreads / kColumns;  // rows that a block reads at the same time
constexpr std::int64_t kRowsOfBlock = 1024;
constexpr std::int64_t kMostRowBlocks = 512;
std::int64_t row_blocks(std::int64_t rows) {
  return std::min(std::max<std::int64_t>(ceil_div(rows, kRowsOfBlock), 1), kMostRowBlocks);
}

// Computes sums[y][c] = sum of values[r][c] over every gridDim.y-th group of kLanes rows. Grid: x tiles of kColumns
// channels, y blocks of rows. A thread has one channel and every kLanes-th row. Reads each value once: 2
// bytes in bf16.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    sum_rows_kernel(const T* values, std::int64_t rows, std::int64_t channels, float* sums) {
  RG_SHARED(float, lanes, [kLanes][kColumns]);
  const int column = static_cast<int>(threadIdx.x) % kColumns, lane = static_cast<int>(threadIdx.x) / kColumns;
  const std::int64_t channel = static_cast<std::int64_t>(blockIdx.x) * kColumns + column;
  float sum = 0.0F;
  if (channel < channels) {
    for (std::int64_t r = static_cast<std::int64_t>(blockIdx.y) * kLanes + lane; r < rows;
         r += static_cast<std::int64_t>(gridDim.y) * kLanes) {
      sum += to_float(values[r * channels + channel]);
    }
  }
  lanes[lane][column] = sum;
  __syncthreads();
  if (lane != 0 || channel >= channels) return;
  for (int i = 1; i < kLanes; ++i) sum += lanes[i][column];
  sums[blockIdx.y * channels + channel] = sum;
}

}  // namespace

std::unique_ptr<Kernel> flat_kernel(const FlatWork& work, runtime::Stream* stream) {
  switch (work.op) {
    case FlatOp::Copy:
      return make_flat<Copy>(work, stream);
    case FlatOp::Relu:
      return make_flat<Relu>(work, stream);
    case FlatOp::ReluBackward:
      return make_flat<ReluBackward>(work, stream);
    case FlatOp::Sigmoid:
      return make_flat<Sigmoid>(work, stream);
    case FlatOp::SigmoidBackward:
      return make_flat<SigmoidBackward>(work, stream);
    case FlatOp::Silu:
      return make_flat<Silu>(work, stream);
    case FlatOp::SiluBackward:
      return make_flat<SiluBackward>(work, stream);
  }
  RG_ASSERT(false);
  return nullptr;
}

namespace {
template <typename T>
void launch_sum(runtime::Stream& stream, const std::vector<std::byte*>& sources, T* dst, std::int64_t count) {
  // If there are more terms than a launch takes, the sum so far is the first term of the next launch.
  for (std::size_t next = 0; next < sources.size();) {
    Terms<T> terms{};
    int here = 0;
    if (next > 0) terms.at[here++] = dst;
    while (here < kMostTerms && next < sources.size()) terms.at[here++] = typed<T>(sources[next++]);
    const bool is_whole = count % kWide == 0;
    const std::int64_t packs = is_whole ? count / kWide : count;
    launch(stream, "launch of a sum", grid_of(packs), is_whole ? &sum_kernel_of<T, kWide> : &sum_kernel_of<T, 1>, terms,
           here, dst, packs);
  }
}
}  // namespace

namespace {
class Sum final : public Kernel {
 public:
  Sum(std::vector<TensorId> terms, const Located& sum, runtime::Stream* stream)
      : terms_(std::move(terms)), sum_(sum), stream_(stream), sources_(terms_.size()) {}
  void bind(const Addresses& at) override {
    for (std::size_t i = 0; i < terms_.size(); ++i) sources_[i] = at.bytes(terms_[i]);
    dst_ = at.bytes(sum_.tensor);
  }
  void run() override {
    with_type(sum_.layout.dtype, [&](auto number) {
      using T = decltype(number);
      launch_sum(*stream_, sources_, typed<T>(dst_), stored_elements(sum_.shape, sum_.layout));
    });
  }

 private:
  std::vector<TensorId> terms_;
  Located sum_;
  runtime::Stream* stream_;
  std::vector<std::byte*> sources_;
  std::byte* dst_ = nullptr;
};
}  // namespace

std::unique_ptr<Kernel> sum_kernel(std::vector<TensorId> terms, const Located& sum, runtime::Stream* stream) {
  return std::make_unique<Sum>(std::move(terms), sum, stream);
}

void convert(runtime::Stream& stream, TypedPointer from, TypedPointer to, std::int64_t count) {
  with_type(from.type, [&](auto source) {
    with_type(to.type, [&](auto target) {
      using From = decltype(source);
      using To = decltype(target);
      const bool is_whole = count % kWide == 0;
      const std::int64_t packs = is_whole ? count / kWide : count;
      launch(stream, "launch of a conversion", grid_of(packs),
             is_whole ? &convert_kernel_of<From, To, kWide> : &convert_kernel_of<From, To, 1>,
             typed<From>(from.address), typed<To>(to.address), packs);
    });
  });
}

namespace {
template <typename Op>
void launch_bias(runtime::Stream& stream, const Matrix& matrix, const float* bias) {
  with_type(matrix.values.type, [&](auto number) {
    using T = decltype(number);
    const std::int64_t count = matrix.rows * matrix.channels;
    const bool is_whole = matrix.channels % kWide == 0;
    const std::int64_t packs = is_whole ? count / kWide : count;
    launch(stream, "launch of a bias", grid_of(packs), is_whole ? &bias_kernel<Op, T, kWide> : &bias_kernel<Op, T, 1>,
           typed<T>(matrix.values.address), bias, packs, matrix.channels);
  });
}
}  // namespace

void add_bias(runtime::Stream& stream, const Matrix& matrix, const float* bias, bool relu) {
  relu ? launch_bias<Relu>(stream, matrix, bias) : launch_bias<Copy>(stream, matrix, bias);
}

std::int64_t sum_rows_scratch(std::int64_t rows, std::int64_t channels) { return row_blocks(rows) * channels; }

void sum_rows(runtime::Stream& stream, const Matrix& matrix, float* sums, float* scratch) {
  const std::int64_t blocks = row_blocks(matrix.rows);
  const auto tiles = static_cast<unsigned>(ceil_div(matrix.channels, kColumns));
  with_type(matrix.values.type, [&](auto number) {
    using T = decltype(number);
    launch(stream, "launch of a sum over rows",
           {.blocks = dim3(tiles, static_cast<unsigned>(blocks)), .threads = dim3(kThreads)}, &sum_rows_kernel<T>,
           typed<T>(matrix.values.address), matrix.rows, matrix.channels, scratch);
  });
  launch(stream, "launch of a sum over rows", {.blocks = dim3(tiles), .threads = dim3(kThreads)},
         &sum_rows_kernel<float>, scratch, blocks, matrix.channels, sums);
}

}  // namespace roentgen::engine::cuda
