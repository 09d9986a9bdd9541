// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Huffman-coded data of JPEG frames with one component (ITU-T T.81 annexes F and H). The strict parser detects missing
// and surplus bytes. Only the files of this folder include it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "data/codec/dicom/frame.h"

namespace roentgen::data {

/// Decodes a lossless frame into `samples` (height_px, width_px). Returns a description of the error, or an empty text.
/// It is an error if the data do not end with the last sample, or if a sample exceeds the frame's precision.
[[nodiscard]] std::string_view decode_lossless_jpeg(const JpegFrame& frame, std::span<std::uint16_t> samples);

/// True for a baseline or extended sequential frame with Huffman codes.
[[nodiscard]] constexpr bool is_sequential(const JpegFrame& frame) {
  return frame.marker == kBaselineFrame || frame.marker == kExtendedFrame;
}

/// Parses the Huffman codes of a sequential frame, which has one scan, without decoding pixels. Returns a description
/// of the error, or an empty text if the data end with the last block. Returns an empty text for frames that are not
/// sequential.
[[nodiscard]] std::string_view check_sequential_scan(const JpegFrame& frame);

}  // namespace roentgen::data
