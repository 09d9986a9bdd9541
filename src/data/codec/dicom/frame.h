// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The frame of a JPEG or JPEG-LS stream and its extent, read before a decoder sees the stream. Only the files of this
// folder include it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace roentgen::data {

/// Second byte of the marker that begins a frame: Huffman-coded JPEG of three kinds, and JPEG-LS.
inline constexpr std::uint8_t kBaselineFrame = 0xC0, kExtendedFrame = 0xC1, kLosslessFrame = 0xC3, kJpegLsFrame = 0xF7;
/// Second bytes of other markers.
inline constexpr std::uint8_t kHuffmanTables = 0xC4, kStartOfScan = 0xDA, kRestartInterval = 0xDD, kFirstRestart = 0xD0;

/// A marker of a stream with its segment.
struct JpegSegment {
  /// Second byte of the marker.
  std::uint8_t marker = 0;
  /// Parameters, without their length.
  std::span<const std::byte> payload;
  /// Start of scan only: entropy-coded data up to the next marker that is no restart.
  std::span<const std::byte> data;
};

/// Header of the first frame of a stream, and its segments.
struct JpegFrame {
  /// Second byte of its marker, 0xC0 to 0xCF or 0xF7.
  std::uint8_t marker = 0;
  /// Bits of a sample.
  int precision = 0;
  std::int64_t width_px = 0;
  std::int64_t height_px = 0;
  int components = 0;
  /// JPEG-LS: largest error of a sample (NEAR); 0 if lossless.
  int near = 0;
  /// Bytes from the start marker to the end marker, both included.
  std::size_t length_bytes = 0;
  /// Segments between start and end marker, in order; they refer to the stream.
  std::vector<JpegSegment> segments;
};

/// Walks all markers of a stream (ITU-T T.81 annex B, T.87 annex C); nullopt if one is damaged or the end marker is
/// missing. Bytes behind the end marker are not looked at.
[[nodiscard]] std::optional<JpegFrame> read_jpeg_frame(std::span<const std::byte> stream);

}  // namespace roentgen::data
