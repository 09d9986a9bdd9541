// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Forward kernel of batch norms over a concatenation that is never stored (segments.h).
#include "engine/cuda/norm/segment_table.h"
#include "engine/cuda/norm/segments.h"

namespace roentgen::engine::cuda {
namespace {

template <typename T>
struct ApplySegment {
  const T* x;
  const float* moments;
  int at;  // first channel of the segment in the norm
};

template <typename T>
struct ApplyWork {
  SegmentTable<ApplySegment<T>> segments;
  const float* gamma;
  const float* beta;
  float* running_mean;
  float* running_var;
  float* scale;
  float* shift;
  T* y;
  float momentum;
  float epsilon;
  float unbiased;  // rows / (rows - 1), the factor of the unbiased variance
};

// Computes scale and shift of 8 channels from the segment's moments. `writes`: true in the one thread of the grid that
// stores them and updates the running statistics.
template <typename T>
__device__ void fold(const ApplyWork<T>& work, const float* moments, int segment_channels, int at, bool writes,
                     Eight& scale, Eight& shift) {
  const Eight mean = load_pack<kWide>(moments), var = load_pack<kWide>(moments + segment_channels);
  const Eight gamma = load_pack<kWide>(work.gamma + at), beta = load_pack<kWide>(work.beta + at);
  RG_UNROLL
  for (int i = 0; i < kWide; ++i) {
    scale.at[i] = gamma.at[i] * (1.0F / sqrtf(var.at[i] + work.epsilon));
    shift.at[i] = fmaf(-mean.at[i], scale.at[i], beta.at[i]);
  }
  if (!writes) return;
  Eight running_mean = load_pack<kWide>(work.running_mean + at), running_var = load_pack<kWide>(work.running_var + at);
  RG_UNROLL
  for (int i = 0; i < kWide; ++i) {
    const float unbiased = var.at[i] * work.unbiased;
    // False for infinite values and NaN, from which running statistics would never recover.
    if (!(fabsf(mean.at[i]) <= 3.4028235e38F && unbiased <= 3.4028235e38F)) continue;
    running_mean.at[i] = fmaf(work.momentum, mean.at[i] - running_mean.at[i], running_mean.at[i]);
    running_var.at[i] = fmaf(work.momentum, unbiased - running_var.at[i], running_var.at[i]);
  }
  store_pack(work.running_mean + at, running_mean);
  store_pack(work.running_var + at, running_var);
  store_pack(work.scale + at, scale);
  store_pack(work.shift + at, shift);
}

// Computes y = relu(scale * x + shift). Grid: x tiles of the channels of all segments, y blocks that divide the rows.
// Reads x once, from the last row: the moments of the newest segment read it last, so it may be in cache. Moves 4 bytes
// per element in bf16.
template <typename T, bool Relu, bool Folds>
__global__ void __launch_bounds__(kNormThreads, kNormBlocks)
    segments_apply_kernel(ApplyWork<T> work, std::int64_t rows, int channels, int width, NormGrid grid) {
  constexpr int kUnroll = kRowsAtATime<1>;
  const ThreadPart part = part_of_thread(grid, rows, width);
  if (!part.is_active) return;
  const int number = segment_of(work.segments, part.channel), local = part.channel - work.segments.begin[number];
  const int segment_channels = work.segments.begin[number + 1] - work.segments.begin[number];
  const T* const x = work.segments.items[number].x + local;
  const int at = work.segments.items[number].at + local;
  Eight scale, shift;
  if constexpr (Folds) {
    const bool writes = blockIdx.y == 0 && part.row_lane == 0;
    fold(work, work.segments.items[number].moments + local, segment_channels, at, writes, scale, shift);
  } else {
    scale = load_pack<kWide>(work.scale + at), shift = load_pack<kWide>(work.shift + at);
  }
  for_rows_backward<kUnroll>(part, grid, [&]<bool Whole>(std::int64_t first) {
    Pack<T, kWide> read[kUnroll];
    RG_UNROLL
    for (int u = 0; u < kUnroll; ++u) {
      const std::int64_t row = first + u * grid.rows_at_once;
      if (Whole || row < part.rows) read[u] = load_pack<kWide>(x + row * segment_channels);
    }
    RG_UNROLL
    for (int u = 0; u < kUnroll; ++u) {
      const std::int64_t row = first + u * grid.rows_at_once;
      if (!Whole && row >= part.rows) continue;
      Pack<T, kWide> y;
      RG_UNROLL
      for (int i = 0; i < kWide; ++i) {
        float value = fmaf(to_float(read[u].at[i]), scale.at[i], shift.at[i]);
        if constexpr (Relu) value = value < 0.0F ? 0.0F : value;
        convert(value, y.at[i]);
      }
      store_pack(work.y + row * channels + at, y);
    }
  });
}

template <typename T>
void apply(runtime::Stream& stream, const NormShape& shape, const NormSegmentsApply& work) {
  const auto rows = static_cast<double>(shape.rows);
  const bool folds = work.gamma != nullptr;
  const auto kernel = work.relu
                          ? (folds ? &segments_apply_kernel<T, true, true> : &segments_apply_kernel<T, true, false>)
                      : folds ? &segments_apply_kernel<T, false, true>
                              : &segments_apply_kernel<T, false, false>;
  for_tables<ApplySegment<T>>(
      work.segments,
      [](const NormSegment& segment) {
        return ApplySegment<T>{static_cast<const T*>(segment.x), segment.moments, segment.begin};
      },
      [&](const SegmentTable<ApplySegment<T>>& table, int width) {
        NormShape part = shape;
        part.channels = width;
        const NormGrid grid = norm_grid(part, kMapLanes);
        const ApplyWork<T> of_type{table,
                                   work.gamma,
                                   work.beta,
                                   work.running.mean,
                                   work.running.var,
                                   work.scale,
                                   work.shift,
                                   static_cast<T*>(work.y),
                                   work.running.momentum,
                                   work.running.epsilon,
                                   static_cast<float>(rows > 1.0 ? rows / (rows - 1.0) : 1.0)};
        launch(stream, "launch of norm_segments_apply", launch_grid(grid), kernel, of_type, shape.rows, shape.channels,
               width, grid);
      });
}

}  // namespace

void norm_segments_apply(runtime::Stream& stream, const NormShape& shape, const NormSegmentsApply& work) {
  for (const NormSegment& segment : work.segments) {
    check_norm({.type = shape.type, .rows = shape.rows, .channels = segment.channels});
  }
  if (shape.type == DType::Bf16) return apply<Bf16>(stream, shape, work);
  if (shape.type == DType::F16) return apply<F16>(stream, shape, work);
  apply<float>(stream, shape, work);
}

}  // namespace roentgen::engine::cuda
