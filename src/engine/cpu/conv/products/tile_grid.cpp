// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "engine/cpu/conv/products/tile_grid.h"

#include <algorithm>
#include <utility>

namespace roentgen::engine::cpu {
namespace {

struct Window {
  std::int64_t kernel = 1, stride = 1, dilation = 1, pad = 0;
};

std::int64_t floor_of(std::int64_t value, std::int64_t by) {
  return value >= 0 ? value / by : -((-value + by - 1) / by);
}

// Sets the distance of rows. It is at least the length of the source, and large enough that taps past a row's end read
// the zeros before the next row.
void set_pitch(GridAxis& axis) {
  for (const GridAxis::Target& target : axis.targets) {
    for (const GridAxis::Tap& tap : target.taps) {
      const std::int64_t first = std::max<std::int64_t>(0, -floor_of(tap.phase - axis.lead, axis.step));
      const std::int64_t end = floor_of(axis.length - 1 + axis.lead - tap.phase, axis.step) + 1;
      axis.pitch = std::max({axis.pitch, end, target.count + tap.offset - first});
    }
    axis.pitch = std::max(axis.pitch, target.count);
  }
}

GridAxis forward_axis(std::int64_t source, std::int64_t target, const Window& w) {
  GridAxis axis{.length = source, .step = w.stride, .lead = w.pad, .target_length = target};
  GridAxis::Target all{.count = target};
  for (std::int64_t k = 0; k < w.kernel; ++k) {
    all.taps.push_back({.index = k, .phase = k * w.dilation % w.stride, .offset = k * w.dilation / w.stride});
  }
  axis.targets.push_back(std::move(all));
  set_pitch(axis);
  return axis;
}

GridAxis backward_axis(std::int64_t source, std::int64_t target, const Window& w) {
  GridAxis axis{.length = source, .target_length = target, .target_step = w.stride};
  for (std::int64_t first = 0; first < std::min(w.stride, target); ++first) {
    GridAxis::Target part{.first = first, .count = (target - first + w.stride - 1) / w.stride};
    for (std::int64_t k = 0; k < w.kernel; ++k) {
      const std::int64_t distance = first + w.pad - k * w.dilation;
      if (distance != floor_of(distance, w.stride) * w.stride) continue;
      part.taps.push_back({.index = k, .phase = 0, .offset = floor_of(distance, w.stride)});
      axis.lead = std::max(axis.lead, -part.taps.back().offset);
    }
    axis.targets.push_back(std::move(part));
  }
  for (GridAxis::Target& part : axis.targets) {
    for (GridAxis::Tap& tap : part.taps) tap.offset += axis.lead;
  }
  set_pitch(axis);
  return axis;
}

// Calls body(i, image, row, column) for rows [first, first + count) of the matrix.
template <typename Body>
void for_rows(std::int64_t first, std::int64_t count, std::int64_t row_pitch, std::int64_t column_pitch,
              const Body& body) {
  std::int64_t column = first % column_pitch;
  std::int64_t row = first / column_pitch % row_pitch;
  std::int64_t image = first / column_pitch / row_pitch;
  for (std::int64_t i = 0; i < count; ++i) {
    body(i, image, row, column);
    if (++column < column_pitch) continue;
    column = 0;
    if (++row < row_pitch) continue;
    row = 0;
    ++image;
  }
}

Window rows_of(const ProductShape& s) { return {s.kernel_height, s.stride_y, s.dilation_y, s.pad_top}; }
Window columns_of(const ProductShape& s) { return {s.kernel_width, s.stride_x, s.dilation_x, s.pad_left}; }

}  // namespace

TileGrid TileGrid::forward(const ProductShape& s) {
  return {forward_axis(s.in_height, s.out_height, rows_of(s)), forward_axis(s.in_width, s.out_width, columns_of(s)), s,
          s.out_blocks};
}

TileGrid TileGrid::backward(const ProductShape& s) {
  return {backward_axis(s.out_height, s.in_height, rows_of(s)), backward_axis(s.out_width, s.in_width, columns_of(s)),
          s, s.in_blocks};
}

TileGrid::TileGrid(GridAxis rows, GridAxis columns, const ProductShape& shape, std::int64_t target_blocks)
    : rows_(std::move(rows)), columns_(std::move(columns)), images_(shape.images), target_blocks_(target_blocks) {
  for (const GridAxis::Target& down : rows_.targets) {
    for (const GridAxis::Target& across : columns_.targets) {
      Target target{.rows = down, .columns = across};
      for (const GridAxis::Tap& y : down.taps) {
        for (const GridAxis::Tap& x : across.taps) {
          const Phase phase{y.phase, x.phase};
          auto found = std::find(phases_.begin(), phases_.end(), phase);
          if (found == phases_.end()) found = phases_.insert(phases_.end(), phase);
          target.taps.push_back({.weights = y.index * shape.kernel_width + x.index,
                                 .phase = found - phases_.begin(),
                                 .offset = y.offset * columns_.pitch + x.offset});
          reach_ = std::max(reach_, target.taps.back().offset);
        }
      }
      targets_.push_back(std::move(target));
    }
  }
}

void TileGrid::find_sources(const Phase& phase, std::int64_t first, std::int64_t count, std::int64_t image_blocks,
                            std::int64_t* at) const {
  const auto inside = [](std::int64_t position, std::int64_t length) { return position >= 0 && position < length; };
  for_rows(first, count, rows_.pitch, columns_.pitch,
           [&](std::int64_t i, std::int64_t image, std::int64_t row, std::int64_t column) {
             const std::int64_t y = row * rows_.step + phase.row - rows_.lead;
             const std::int64_t x = column * columns_.step + phase.column - columns_.lead;
             const bool is_pixel = image < images_ && inside(y, rows_.length) && inside(x, columns_.length);
             at[i] = is_pixel ? image * image_blocks * source_plane() + (y * columns_.length + x) * kProductBlock : -1;
           });
}

void TileGrid::find_targets(const Target& target, std::int64_t first, std::int64_t count, std::int64_t* at) const {
  for_rows(first, count, rows_.pitch, columns_.pitch,
           [&](std::int64_t i, std::int64_t image, std::int64_t row, std::int64_t column) {
             const std::int64_t y = target.rows.first + row * rows_.target_step;
             const std::int64_t x = target.columns.first + column * columns_.target_step;
             const bool is_result = image < images_ && row < target.rows.count && column < target.columns.count;
             at[i] = is_result
                         ? image * target_blocks_ * target_plane() + (y * columns_.target_length + x) * kProductBlock
                         : -1;
           });
}

}  // namespace roentgen::engine::cpu
