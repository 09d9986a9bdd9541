// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Huffman-coded data of JPEG frames with one component (ITU-T T.81 annexes F and H), read so strictly that missing or
// surplus bytes show. Only the files of this folder include it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "data/codec/dicom/frame.h"

namespace roentgen::data {

/// Decodes a lossless frame into `samples` (height_px, width_px). Returns the error in the data, empty if there is
/// none. The data must end with the last sample, and every sample must fit in the frame's precision.
[[nodiscard]] std::string_view decode_lossless_jpeg(const JpegFrame& frame, std::span<std::uint16_t> samples);

/// True for a baseline or extended sequential frame with Huffman codes.
[[nodiscard]] constexpr bool is_sequential(const JpegFrame& frame) {
  return frame.marker == kBaselineFrame || frame.marker == kExtendedFrame;
}

/// Walks the codes of a sequential frame, which has one scan. Returns the fault of the data, empty if they end with the
/// last block, or if the frame is not sequential.
[[nodiscard]] std::string_view check_sequential_scan(const JpegFrame& frame);

}  // namespace roentgen::data
