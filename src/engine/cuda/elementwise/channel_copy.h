// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Kernel that copies channels between images of different numbers of channels.
#pragma once

#include <cstdint>

#include "engine/cuda/elementwise/flat.h"
#include "runtime/stream.h"

namespace roentgen::engine::cuda {

/// to[r][to_begin + c] = from[r][from_begin + c] for c < count, and 0 for c from count to below `written`.
struct ChannelCopy {
  Matrix from;
  Matrix to;  ///< of from's type and rows
  std::int64_t from_begin = 0;
  std::int64_t to_begin = 0;
  std::int64_t count = 0;
  std::int64_t written = 0;
};
/// Reads `count` and writes `written` values a row.
void copy_channels(runtime::Stream& stream, const ChannelCopy& work);

}  // namespace roentgen::engine::cuda
