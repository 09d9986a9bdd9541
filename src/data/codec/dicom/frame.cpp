// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/dicom/frame.h"

#include <cstring>

namespace roentgen::data {
namespace {

constexpr std::uint32_t kStart = 0xD8, kEnd = 0xD9, kLastRestart = 0xD7;

/// Sequential reader of a stream's bytes.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> stream) : stream_(stream) {}

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] bool has(std::size_t bytes) const { return stream_.size() - at_ >= bytes; }
  /// Returns the byte `ahead` positions further; 0 beyond the end.
  [[nodiscard]] std::uint32_t peek(std::size_t ahead = 0) const {
    return has(ahead + 1) ? std::to_integer<std::uint32_t>(stream_[at_ + ahead]) : 0;
  }
  [[nodiscard]] std::uint32_t peek_word(std::size_t ahead) const { return peek(ahead) << 8U | peek(ahead + 1); }
  void skip(std::size_t bytes) { at_ += bytes; }

  /// Skips fill bytes and takes the marker at the current position. Returns its second byte, or 0 if there is no
  /// marker.
  std::uint32_t take_marker() {
    if (!has(2) || peek() != 0xFF) return 0;
    while (has(2) && peek(1) == 0xFF) skip(1);
    const std::uint32_t marker = peek(1);
    skip(has(2) ? 2 : 1);
    return marker;
  }

  /// Skips the data of a scan up to the next marker. After 0xFF, JPEG inserts a zero byte and JPEG-LS a zero bit.
  void skip_scan(bool is_jpeg_ls) {
    for (; has(2); skip(1)) {
      const void* mark = std::memchr(stream_.data() + at_, 0xFF, stream_.size() - at_ - 1);
      if (mark == nullptr) return;
      at_ = static_cast<std::size_t>(static_cast<const std::byte*>(mark) - stream_.data());
      const std::uint32_t next = peek(1);
      const bool is_restart = !is_jpeg_ls && next >= kFirstRestart && next <= kLastRestart;
      const bool is_stuffed = is_jpeg_ls ? next < 0x80 : next == 0;
      if (!is_restart && !is_stuffed) return;
    }
  }

 private:
  std::span<const std::byte> stream_;
  std::size_t at_ = 0;
};

bool begins_frame(std::uint32_t marker) {
  const bool is_table = marker == 0xC4 || marker == 0xC8 || marker == 0xCC;
  return (marker >= 0xC0 && marker <= 0xCF && !is_table) || marker == kJpegLsFrame;
}

}  // namespace

std::optional<JpegFrame> read_jpeg_frame(std::span<const std::byte> stream) {
  constexpr std::size_t kFrameHead_bytes = 8, kLength_bytes = 2;
  Reader reader(stream);
  if (reader.take_marker() != kStart) return std::nullopt;
  JpegFrame frame;
  while (true) {
    const std::uint32_t marker = reader.take_marker();
    if (marker == 0) return std::nullopt;
    if (marker == kEnd) break;
    const std::size_t length = reader.peek_word(0);
    if (length < kLength_bytes || !reader.has(length)) return std::nullopt;
    if (begins_frame(marker) && frame.marker == 0) {
      if (length < kFrameHead_bytes) return std::nullopt;
      frame.marker = static_cast<std::uint8_t>(marker);
      frame.precision = static_cast<int>(reader.peek(2));
      frame.height_px = reader.peek_word(3);
      frame.width_px = reader.peek_word(5);
      frame.components = static_cast<int>(reader.peek(7));
    }
    JpegSegment& segment = frame.segments.emplace_back();
    segment.marker = static_cast<std::uint8_t>(marker);
    segment.payload = stream.subspan(reader.at() + kLength_bytes, length - kLength_bytes);
    const bool is_jpeg_ls = frame.marker == kJpegLsFrame;
    if (marker == kStartOfScan && is_jpeg_ls) frame.near = static_cast<int>(reader.peek(3 + 2 * reader.peek(2)));
    reader.skip(length);
    if (marker != kStartOfScan) continue;
    const std::size_t begin = reader.at();
    reader.skip_scan(is_jpeg_ls);
    segment.data = stream.subspan(begin, reader.at() - begin);
  }
  if (frame.marker == 0) return std::nullopt;
  frame.length_bytes = reader.at();
  return frame;
}

}  // namespace roentgen::data
