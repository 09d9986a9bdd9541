// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Times the batch norms of DenseNet's segments, one dense block at a time, as plans run them.
#pragma once

#include <span>

#include "engine/cuda/norm/segments.h"
#include "tools/gpu/bench_support.h"

namespace roentgen::engine::cuda {
namespace {

/// Segments of one dense block, and the buffers that the batch norms of all its layers read and write.
struct Block {
  Block(Pool& pool, std::int64_t rows_, int first, int layers, unsigned seed) : rows(rows_) {
    for (int i = 0; i <= layers; ++i) {
      const int count = i == 0 ? first : kGrowth;
      const auto size = static_cast<std::size_t>(count), bytes = static_cast<std::size_t>(rows) * size * 2;
      segments.push_back(
          {pool.random(bytes, seed + static_cast<unsigned>(i)), pool.floats(2 * size, 1), count, channels});
      backward.push_back({segments.back().x,
                          segments.back().moments,
                          pool.random(bytes, seed + 99),
                          pool.floats(2 * size, 0),
                          count,
                          {channels, channels},
                          false});
      channels += count;
    }
    const auto size = static_cast<std::size_t>(channels), bytes = static_cast<std::size_t>(rows) * size * 2;
    y = pool.take(bytes), dy[0] = pool.random(bytes, seed + 7), dy[1] = pool.random(bytes, seed + 8);
    for (float*& numbers : floats) numbers = pool.floats(size, 1);
    const NormShape shape{.rows = rows, .channels = channels, .multiprocessors = multiprocessors};
    scratch = {pool.floats(norm_segments_partials(shape, kMostNorms), 0), pool.zeros(norm_segments_counters(shape, 1))};
  }
  static constexpr int kGrowth = 32;
  /// Shape of a batch norm with this number of channels.
  [[nodiscard]] NormShape shape(int count) const {
    return {.rows = rows, .channels = count, .multiprocessors = multiprocessors};
  }
  [[nodiscard]] NormSegmentsGradient norm(int which, int count) const {
    return {dy[which], count, floats[0], floats[1], floats[2], floats[3]};
  }
  std::int64_t rows;
  int channels = 0;
  std::vector<NormSegment> segments;
  std::vector<SegmentGradient> backward;
  void *y, *dy[2];
  float* floats[8];
  NormScratch scratch;
};

/// Runs the moments of each segment, and the batch norms of all layers and of the transition. Returns the bytes read
/// and written.
double block_forward(runtime::Stream& s, const Block& block) {
  double bytes = 0;
  for (std::size_t i = 0; i < block.segments.size(); ++i) {
    const NormSegment& newest = block.segments[i];
    const int count = newest.begin + newest.channels;
    norm_moments(s, block.shape(newest.channels), newest.x, const_cast<float*>(newest.moments), block.scratch);
    norm_segments_apply(s, block.shape(count),
                        {.segments = std::span(block.segments).first(i + 1),
                         .gamma = block.floats[4],
                         .beta = block.floats[5],
                         .running = {.mean = block.floats[6], .var = block.floats[7]},
                         .scale = block.floats[0],
                         .shift = block.floats[1],
                         .y = block.y});
    bytes += 2.0 * static_cast<double>(block.rows) * (newest.channels + 2 * count);
  }
  return bytes;
}
/// Runs backward of the same batch norms as plans do: every second one is merged with the next. Returns the bytes read
/// and written.
double block_backward(runtime::Stream& s, const Block& block) {
  double bytes = 0;
  const auto pass = [&](std::size_t begin, std::size_t end, int norms) {
    const NormSegment& last = block.segments[end - 1];
    const int count = last.begin + last.channels - block.segments[begin].begin;
    norm_segments_backward(s, block.shape(count),
                           {.segments = std::span(block.backward).subspan(begin, end - begin),
                            .norms = {block.norm(0, block.channels), block.norm(1, block.channels)},
                            .norm_count = norms},
                           block.scratch);
    bytes += 2.0 * static_cast<double>(block.rows) * count * (3 + norms);
  };
  for (std::size_t end = block.segments.size(), waits = 0; end > 0; --end, waits = 1 - waits) {
    if (waits == 1) {
      pass(0, end, 2);
    } else {
      pass(end - 1, end, 1);
    }
    const SegmentGradient& newest = block.backward[end - 1];
    norm_gradient_apply(s, block.shape(newest.channels),
                        {.mask = NormMask::None,
                         .x = newest.x,
                         .dy = newest.sum,
                         .slope = newest.slopes,
                         .offset = newest.slopes + newest.channels,
                         .dx = block.y});
    bytes += 2.0 * static_cast<double>(block.rows) * newest.channels * 3;
  }
  return bytes;
}

void time_blocks(Pool& pool, runtime::cuda::CudaStream& s, int batch) {
  struct Extent {
    int side, first, layers;
  };
  double sum = 0, floor = 0;
  for (const Extent& e : {Extent{56, 64, 6}, Extent{28, 128, 12}, Extent{14, 256, 24}, Extent{7, 512, 16}}) {
    pool.reset();
    const std::int64_t rows = static_cast<std::int64_t>(batch) * e.side * e.side;
    const double all = 2.0 * static_cast<double>(rows) * (e.first + Block::kGrowth * e.layers);
    const int rotations = std::max(2, static_cast<int>(kRotation / (5 * all)) + 1);
    std::vector<Block> blocks;
    for (int i = 0; i < rotations; ++i)
      blocks.emplace_back(pool, rows, e.first, e.layers, 1000U * static_cast<unsigned>(i));
    const std::string name = std::to_string(rows) + ", " + std::to_string(e.layers) + " layers";
    const auto timed = [&](const char* what, double (*work)(runtime::Stream&, const Block&)) {
      const double bytes = work(s, blocks[0]);
      const double us = time_us(s, bytes, rotations, [&](int i) { work(s, blocks[static_cast<std::size_t>(i)]); });
      row(what, name, bytes, us);
      sum += us, floor += bytes / copy_gb_s / 1e3;
    };
    timed("dense block, forward", block_forward);
    timed("dense block, backward", block_backward);
  }
  std::printf("SUM of the norms of segments, DenseNet-121 batch %d: %.3f ms; by bytes at copy speed %.3f ms: %.1f%%\n",
              batch, sum / 1e3, floor / 1e3, 100 * floor / sum);
}

}  // namespace
}  // namespace roentgen::engine::cuda
