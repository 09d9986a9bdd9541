// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/dicom/rle.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>

namespace roentgen::data {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::uint32_t kMostSegments = 15;
constexpr std::uint32_t kNoOp = 128;

std::uint32_t word_at(Bytes bytes, std::size_t index) {
  std::uint32_t word = 0;
  for (std::size_t i = 4; i-- > 0;) word = word << 8U | std::to_integer<std::uint32_t>(bytes[index * 4 + i]);
  return word;
}

Failure damaged(std::string_view what, std::string_view got) {
  return failure("data.dicom", what, "complete RLE data", got, "fetching the file again");
}

/// Writes one byte of each sample (a byte plane), sample by sample.
class Plane {
 public:
  Plane(std::span<std::uint16_t> samples, int shift) : samples_(samples), shift_(shift) {}
  /// Writes the next byte. Bytes beyond the last sample are only counted.
  void put(std::byte byte) {
    if (count_ < samples_.size()) {
      samples_[count_] = static_cast<std::uint16_t>(samples_[count_] | std::to_integer<std::uint32_t>(byte) << shift_);
    }
    ++count_;
  }
  [[nodiscard]] bool is_full() const { return count_ >= samples_.size(); }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  std::span<std::uint16_t> samples_;
  int shift_;
  std::size_t count_ = 0;
};

// Decodes a segment into a plane. Returns the offset after the last byte that was used.
std::size_t fill(Plane& plane, Bytes segment) {
  std::size_t at = 0;
  while (!plane.is_full() && at < segment.size()) {
    const auto control = std::to_integer<std::uint32_t>(segment[at++]);
    if (control == kNoOp) continue;
    if (control < kNoOp) {
      const std::size_t count = std::min<std::size_t>(control + 1, segment.size() - at);
      for (const std::byte byte : segment.subspan(at, count)) plane.put(byte);
      at += count;
    } else if (at < segment.size()) {
      for (std::uint32_t i = 0; i < 257 - control; ++i) plane.put(segment[at]);
      ++at;
    }
  }
  return at;
}

Status decode_segment(Bytes segment, std::string_view what, Plane& plane, std::size_t pixels) {
  const std::size_t end = fill(plane, segment);
  // An encoder may pad an odd number of bytes to an even number, before or after coding.
  const bool is_count_right = plane.count() == pixels || (pixels % 2 == 1 && plane.count() == pixels + 1);
  const bool is_rest_padding = std::ranges::all_of(
      segment.subspan(end), [](std::byte byte) { return byte == std::byte{0} || byte == std::byte{kNoOp}; });
  if (is_count_right && is_rest_padding) return Done{};
  const std::string count = is_rest_padding ? std::to_string(plane.count()) : "more than " + std::to_string(pixels);
  return damaged(what, fmt::format("{} of {} bytes in a segment", count, pixels));
}

}  // namespace

bool begins_rle_frame(Bytes fragment) {
  if (fragment.size() < kRleHeader_bytes) return false;
  const std::uint32_t segments = word_at(fragment, 0);
  return segments >= 1 && segments <= kMostSegments && word_at(fragment, 1) == kRleHeader_bytes;
}

Status decode_rle(Bytes frame, std::string_view what, int bytes_per_sample, std::span<std::uint16_t> samples) {
  if (frame.size() < kRleHeader_bytes) return damaged(what, fmt::format("{} bytes", frame.size()));
  const std::uint32_t segments = word_at(frame, 0);
  if (segments != static_cast<std::uint32_t>(bytes_per_sample)) {
    return damaged(what, fmt::format("{} segments for samples of {} bytes", segments, bytes_per_sample));
  }
  std::ranges::fill(samples, std::uint16_t{0});
  for (std::uint32_t segment = 0; segment < segments; ++segment) {
    const std::size_t begin = word_at(frame, segment + 1);
    const std::size_t end = segment + 1 == segments ? frame.size() : word_at(frame, segment + 2);
    if (begin < kRleHeader_bytes || begin > end || end > frame.size())
      return damaged(what, "a segment outside the data");
    // The segment of the most significant bytes comes first.
    Plane plane(samples, static_cast<int>(8 * (segments - 1 - segment)));
    const Status status = decode_segment(frame.subspan(begin, end - begin), what, plane, samples.size());
    if (!status) return status;
  }
  return Done{};
}

}  // namespace roentgen::data
