// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads the frame header and the length of a JPEG or JPEG-LS stream before a decoder gets the stream. Only the files of
// this folder include it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace roentgen::data {

/// Second bytes of frame markers: Huffman-coded JPEG (baseline, extended, lossless) and JPEG-LS.
inline constexpr std::uint8_t kBaselineFrame = 0xC0, kExtendedFrame = 0xC1, kLosslessFrame = 0xC3, kJpegLsFrame = 0xF7;
/// Second bytes of other JPEG markers.
inline constexpr std::uint8_t kHuffmanTables = 0xC4, kStartOfScan = 0xDA, kRestartInterval = 0xDD, kFirstRestart = 0xD0;

/// A marker of a JPEG stream and the segment after it.
struct JpegSegment {
  /// Second byte of the marker.
  std::uint8_t marker = 0;
  /// Parameters of the segment, without the length field.
  std::span<const std::byte> payload;
  /// Entropy-coded data up to the next marker other than a restart marker. Only for start of scan.
  std::span<const std::byte> data;
};

/// Header of the first frame of a JPEG stream, and all segments of the stream.
struct JpegFrame {
  /// Second byte of the frame's marker, 0xC0 to 0xCF or 0xF7.
  std::uint8_t marker = 0;
  /// Number of bits of a sample.
  int precision = 0;
  std::int64_t width_px = 0;
  std::int64_t height_px = 0;
  int components = 0;
  /// JPEG-LS: largest error of a sample (parameter NEAR); 0 for lossless.
  int near = 0;
  /// Number of bytes from the start marker to the end marker, both included.
  std::size_t length_bytes = 0;
  /// Segments between the start and end markers, in order. They refer to the stream's bytes.
  std::vector<JpegSegment> segments;
};

/// Walks all markers of a stream (ITU-T T.81 annex B, T.87 annex C). Returns nullopt if one is damaged or the end
/// marker is missing. Ignores bytes after the end marker.
[[nodiscard]] std::optional<JpegFrame> read_jpeg_frame(std::span<const std::byte> stream);

}  // namespace roentgen::data
