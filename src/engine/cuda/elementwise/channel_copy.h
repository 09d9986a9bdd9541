// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernel that copies channels between images with different numbers of channels.
#pragma once

#include <cstdint>

#include "engine/cuda/elementwise/flat.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// Work of copy_channels(): to[r][to_begin + c] = from[r][from_begin + c] for c < count, and 0 for count <= c <
/// written.
struct ChannelCopy {
  Matrix from;
  Matrix to;  ///< destination, with the type and number of rows of `from`
  std::int64_t from_begin = 0;
  std::int64_t to_begin = 0;
  std::int64_t count = 0;
  std::int64_t written = 0;
};
/// Runs the copy. Reads `count` and writes `written` values per row.
void copy_channels(runtime::Stream& stream, const ChannelCopy& work);

}  // namespace roentgen::engine::cuda
