// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Backward kernel of batch norms over a concatenation that is never stored (segments.h).
#include "core/error.h"
#include "engine/cuda/norm/segment_table.h"
#include "engine/cuda/norm/segments.h"

namespace roentgen::engine::cuda {
namespace {

template <typename T>
struct BackwardSegment {
  const T* x;
  const float* moments;
  T* sum;
  float* slopes;
  int at[kMostNorms];  // first channel of the segment in each norm
  bool is_first;
};
template <typename T>
struct BackwardNorm {
  const T* dy;
  const float* scale;
  const float* shift;
  float* dgamma;
  float* dbeta;
  int channels;
  float epsilon;
  bool relu;
};
template <typename T>
struct BackwardWork {
  SegmentTable<BackwardSegment<T>> segments;
  BackwardNorm<T> norms[kMostNorms];
  double over_rows;  // 1 / rows
};

/// Blocks that a multiprocessor runs concurrently, and rows that a thread reads at once. With two norms, a thread needs
/// more registers; the bytes in flight stay the same.
template <int Norms>
inline constexpr int kBackwardBlocks = Norms == 1 ? kNormBlocks : 1;
template <int Norms>
inline constexpr int kBackwardRows = Norms == 1 ? kRowsAtATime<3> : 2 * kRowsAtATime<4>;

// Segment (input of the concatenation) that contains a thread's 8 channels, and their position in it.
template <typename T>
struct Place {
  const BackwardSegment<T>* segment;
  int channels, local;
};
template <typename T>
__device__ Place<T> place_of(const BackwardWork<T>& work, int channel) {
  const int number = segment_of(work.segments, channel);
  const int begin = work.segments.begin[number];
  return {work.segments.items + number, work.segments.begin[number + 1] - begin, channel - begin};
}

// Sums of the norms over all blocks of a tile, for this thread's channel. Returns false in blocks that are not the
// last.
template <int Norms>
__device__ bool sum_all(const Eight (&sum)[Norms], const Eight (&product)[Norms], const NormGrid& grid, float* partials,
                        unsigned* counters, const SumMemory& memory, double (&totals)[Norms][2]) {
  const int tile_channels = grid.lanes * kWide, values = 2 * tile_channels, thread = static_cast<int>(threadIdx.x);
  const std::int64_t blocks = static_cast<std::int64_t>(gridDim.x) * grid.row_blocks;
  const std::int64_t block = static_cast<std::int64_t>(blockIdx.x) * grid.row_blocks + blockIdx.y;
  const auto take = [&](int norm) {
    if (thread >= tile_channels) return;
    totals[norm][0] = memory.totals[thread], totals[norm][1] = memory.totals[tile_channels + thread];
  };
  RG_UNROLL
  for (int norm = 0; norm < Norms; ++norm) {
    sum_over_block(sum[norm], product[norm], grid, memory);
    __syncthreads();
    if (grid.row_blocks == 1) {
      take(norm);
    } else if (thread < values) {
      partials[(norm * blocks + block) * values + thread] = memory.totals[thread];
    }
  }
  if (grid.row_blocks == 1) return true;
  if (!is_last_block(counters + blockIdx.x, gridDim.y)) return false;
  RG_UNROLL
  for (int norm = 0; norm < Norms; ++norm) {
    finish_sums(grid, partials + norm * blocks * values, memory);
    take(norm);
  }
  return true;
}

// Writes the parameters' gradients for one channel, and adds to the segment's slope and offset.
template <typename T, int Norms>
__device__ void finish_channel(const BackwardWork<T>& work, int channel, const double (&totals)[Norms][2]) {
  const Place<T> place = place_of(work, channel);
  const BackwardSegment<T>& segment = *place.segment;
  const double mean = segment.moments[place.local];
  const float var = segment.moments[place.channels + place.local];
  double slope = 0.0, offset = 0.0;
  RG_UNROLL
  for (int i = 0; i < Norms; ++i) {
    const BackwardNorm<T>& norm = work.norms[i];
    const int at = segment.at[i] + place.local;
    const double scale = norm.scale[at], inv_std = 1.0F / sqrtf(var + norm.epsilon), sum = totals[i][0];
    const double dgamma = totals[i][1] * inv_std, here = scale * inv_std * dgamma * work.over_rows;
    norm.dbeta[at] = static_cast<float>(sum);
    norm.dgamma[at] = static_cast<float>(dgamma);
    slope += here;
    offset += here * mean - scale * sum * work.over_rows;
  }
  if (segment.sum == nullptr) return;
  float* const slopes = segment.slopes + place.local;
  if (!segment.is_first) slope += slopes[0], offset += slopes[place.channels];
  slopes[0] = static_cast<float>(slope);
  slopes[place.channels] = static_cast<float>(offset);
}

// Computes G += scale * g of each norm, and sums g and g * (x - mean) over the rows. Grid: x tiles of the channels of
// all segments, y blocks that divide the rows. Reads each operand once, writes G: 8 bytes per element in bf16 for one
// norm, 10 for two.
template <typename T, int Norms>
__global__ void __launch_bounds__(kNormThreads, kBackwardBlocks<Norms>)
    segments_backward_kernel(BackwardWork<T> work, std::int64_t rows, int width, NormGrid grid, float* partials,
                             unsigned* counters) {
  constexpr int kUnroll = kBackwardRows<Norms>;
  RG_SUM_MEMORY(memory);
  const ThreadPart part = part_of_thread(grid, rows, width);
  Eight sum[Norms]{}, product[Norms]{};
  if (part.is_active) {
    const Place<T> place = place_of(work, part.channel);
    const T* const x = place.segment->x + place.local;
    T* const into = place.segment->sum == nullptr ? nullptr : place.segment->sum + place.local;
    const bool adds = into != nullptr && !place.segment->is_first;
    const Eight mean = load_pack<kWide>(place.segment->moments + place.local);
    const T* dy[Norms];
    Eight scale[Norms], shift[Norms];
    RG_UNROLL
    for (int i = 0; i < Norms; ++i) {
      const int at = place.segment->at[i] + place.local;
      dy[i] = work.norms[i].dy + at;
      scale[i] = load_pack<kWide>(work.norms[i].scale + at), shift[i] = load_pack<kWide>(work.norms[i].shift + at);
    }
    for_rows<kUnroll>(part, grid, [&]<bool Whole>(std::int64_t first) {
      Pack<T, kWide> value[kUnroll], before[kUnroll]{}, gradient[kUnroll][Norms];
      RG_UNROLL
      for (int u = 0; u < kUnroll; ++u) {
        const std::int64_t row = first + u * grid.rows_at_once;
        if (!Whole && row >= part.rows) continue;
        value[u] = load_pack<kWide>(x + row * place.channels);
        if (adds) before[u] = load_pack<kWide>(into + row * place.channels);
        RG_UNROLL
        for (int i = 0; i < Norms; ++i) gradient[u][i] = load_pack<kWide>(dy[i] + row * work.norms[i].channels);
      }
      RG_UNROLL
      for (int u = 0; u < kUnroll; ++u) {
        const std::int64_t row = first + u * grid.rows_at_once;
        if (!Whole && row >= part.rows) continue;
        Pack<T, kWide> after;
        RG_UNROLL
        for (int k = 0; k < kWide; ++k) {
          const float here = to_float(value[u].at[k]), shifted = here - mean.at[k];
          float total = to_float(before[u].at[k]);
          RG_UNROLL
          for (int i = 0; i < Norms; ++i) {
            float g = to_float(gradient[u][i].at[k]);
            if (work.norms[i].relu) g = fmaf(here, scale[i].at[k], shift[i].at[k]) > 0.0F ? g : 0.0F;
            sum[i].at[k] += g;
            product[i].at[k] = fmaf(g, shifted, product[i].at[k]);
            total = fmaf(scale[i].at[k], g, total);
          }
          convert(total, after.at[k]);
        }
        if (into != nullptr) store_pack(into + row * place.channels, after);
      }
    });
  }
  double totals[Norms][2]{};
  if (!sum_all<Norms>(sum, product, grid, partials, counters, memory, totals)) return;
  const int i = static_cast<int>(threadIdx.x), channel = static_cast<int>(blockIdx.x) * grid.lanes * kWide + i;
  if (i < grid.lanes * kWide && channel < width) finish_channel<T, Norms>(work, channel, totals);
}

NormGrid grid_of(const NormShape& shape, int norm_count) {
  return norm_grid(shape, kSumLanes, norm_count == 1 ? kBackwardBlocks<1> : kBackwardBlocks<2>);
}

template <typename T>
void backward(runtime::Stream& stream, const NormShape& shape, const NormSegmentsBackward& work,
              const NormScratch& scratch) {
  BackwardWork<T> of_type{};
  of_type.over_rows = 1.0 / static_cast<double>(shape.rows);
  for (int i = 0; i < work.norm_count; ++i) {
    const NormSegmentsGradient& norm = work.norms[static_cast<std::size_t>(i)];
    of_type.norms[i] = {static_cast<const T*>(norm.dy),
                        norm.scale,
                        norm.shift,
                        norm.dgamma,
                        norm.dbeta,
                        norm.channels,
                        norm.epsilon,
                        norm.relu};
  }
  for_tables<BackwardSegment<T>>(
      work.segments,
      [](const SegmentGradient& segment) {
        return BackwardSegment<T>{static_cast<const T*>(segment.x),     segment.moments,
                                  static_cast<T*>(segment.sum),         segment.slopes,
                                  {segment.begin[0], segment.begin[1]}, segment.is_first};
      },
      [&](const SegmentTable<BackwardSegment<T>>& table, int width) {
        of_type.segments = table;
        NormShape part = shape;
        part.channels = width;
        const NormGrid grid = grid_of(part, work.norm_count);
        launch(stream, "launch of norm_segments_backward", launch_grid(grid),
               work.norm_count == 1 ? &segments_backward_kernel<T, 1> : &segments_backward_kernel<T, 2>, of_type,
               shape.rows, width, grid, scratch.partials, scratch.counters);
      });
}

}  // namespace

std::size_t norm_segments_partials(const NormShape& shape, int norm_count) {
  // A launch has as many blocks as run concurrently, or one per tile if that is more.
  const int blocks = std::max(grid_of(shape, norm_count).tiles, kNormBlocks * shape.multiprocessors);
  return static_cast<std::size_t>(norm_count) * static_cast<std::size_t>(blocks) * 2 * kSumLanes * kWide;
}
std::size_t norm_segments_counters(const NormShape& shape, int norm_count) {
  return static_cast<std::size_t>(grid_of(shape, norm_count).tiles);
}

void norm_segments_backward(runtime::Stream& stream, const NormShape& shape, const NormSegmentsBackward& work,
                            const NormScratch& scratch) {
  if (work.norm_count != 1 && work.norm_count != kMostNorms) {
    throw ConfigError(error_text("engine.cuda.norm", "batch norm, norm_count", "1 or 2",
                                 std::to_string(work.norm_count), "reporting this bug"));
  }
  for (const SegmentGradient& segment : work.segments) {
    check_norm({.type = shape.type, .rows = shape.rows, .channels = segment.channels});
  }
  if (shape.type == DType::Bf16) return backward<Bf16>(stream, shape, work, scratch);
  if (shape.type == DType::F16) return backward<F16>(stream, shape, work, scratch);
  backward<float>(stream, shape, work, scratch);
}

}  // namespace roentgen::engine::cuda
