// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Table of the segments (inputs of a concatenation) of one launch, passed as kernel argument, and a search for the
// segment of a channel. For .cu files.
#pragma once

#include <algorithm>

#include "engine/cuda/norm/tile.h"

namespace roentgen::engine::cuda {

/// Largest number of segments per launch: kernel arguments are limited to 4 KB.
inline constexpr int kMostSegments = 64;

/// Segments that are adjacent in the channels of the launch.
template <typename Item>
struct SegmentTable {
  int count = 0;
  int begin[kMostSegments + 1] = {};  ///< first channel of each segment in the launch, then the end of the last
  Item items[kMostSegments] = {};
};

/// Index of the segment that contains this channel.
template <typename Item>
__device__ int segment_of(const SegmentTable<Item>& table, int channel) {
  int first = 0, behind = table.count;
  while (behind - first > 1) {
    const int middle = (first + behind) / 2;
    if (table.begin[middle] <= channel) {
      first = middle;
    } else {
      behind = middle;
    }
  }
  return first;
}

/// Calls body(table, channels) for every kMostSegments segments. Each table item is the result of item(segment).
template <typename Item, typename Segment, typename ToItem, typename Body>
void for_tables(std::span<const Segment> segments, const ToItem& item, const Body& body) {
  for (std::size_t next = 0; next < segments.size();) {
    SegmentTable<Item> table;
    table.count = static_cast<int>(std::min<std::size_t>(kMostSegments, segments.size() - next));
    for (int i = 0; i < table.count; ++i, ++next) {
      table.begin[i + 1] = table.begin[i] + segments[next].channels;
      table.items[i] = item(segments[next]);
    }
    body(table, table.begin[table.count]);
  }
}

}  // namespace roentgen::engine::cuda
