// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/jpeg_scan.h"

#include <algorithm>
#include <cstring>

namespace roentgen::data {
namespace {

// Number of bytes that the inner loop may read beyond the end of a segment.
constexpr std::size_t kPadding = 32;
constexpr int kBlock_px = 8;

std::int64_t divided_up(std::int64_t number, std::int64_t by) { return (number + by - 1) / by; }

// Removes the zero after every 255 byte, and the restart markers. Returns false if the data contain any marker other
// than restart markers and the end marker, or lack the end marker.
bool unstuff(const BaselineJpeg& jpeg, DecodeScratch& scratch, JpegScan& scan) {
  const std::size_t most_segments =
      jpeg.restart_units == 0 ? 1
                              : static_cast<std::size_t>(divided_up(scan.unit_columns * scan.unit_rows,
                                                                    static_cast<std::int64_t>(jpeg.restart_units)));
  // Each segment needs at least its marker, which limits the number of segments in a file of this size.
  if (most_segments > jpeg.scan.size()) return false;
  const auto memory = grown(scratch.packed, jpeg.scan.size() + (most_segments + 1) * kPadding);
  auto* const first = reinterpret_cast<std::uint8_t*>(memory.data());
  std::uint8_t* to = first;
  const auto* at = reinterpret_cast<const std::uint8_t*>(jpeg.scan.data());
  const std::uint8_t* const end = at + jpeg.scan.size();
  std::size_t begin = 0;
  const auto close = [&] {
    scan.segments.push_back({.begin = begin, .length = static_cast<std::size_t>(to - first) - begin});
    std::memset(to, 0, kPadding);
    to += kPadding;
    begin = static_cast<std::size_t>(to - first);
  };
  while (true) {
    const auto* mark = static_cast<const std::uint8_t*>(std::memchr(at, 0xFF, static_cast<std::size_t>(end - at)));
    if (mark == nullptr || mark + 1 >= end) return false;
    const bool is_stuffed = mark[1] == 0;
    const auto count = static_cast<std::size_t>(mark - at) + (is_stuffed ? 1 : 0);
    std::memcpy(to, at, count);
    to += count;
    at = mark + 2;
    if (is_stuffed) continue;
    close();
    if (mark[1] == 0xD9) break;
    if (mark[1] != 0xD0 + (scan.segments.size() - 1) % 8 || scan.segments.size() >= most_segments) return false;
  }
  scan.bytes = {first, static_cast<std::size_t>(to - first)};
  return scan.segments.size() == most_segments;
}

// Rows (and columns) of coefficients that libjpeg's reduced inverse DCT reads (jidctred.c).
std::span<const int> used_rows(std::int64_t size) {
  static constexpr std::array<int, 7> kOfFour{0, 1, 2, 3, 5, 6, 7};
  static constexpr std::array<int, 5> kOfTwo{0, 1, 3, 5, 7};
  if (size == 4) return kOfFour;
  return size == 2 ? std::span<const int>(kOfTwo) : std::span(kOfTwo).first(1);
}

// Sets `places` for the coefficients that the transform reads. All others are written to a row that is never read.
void place_coefficients(const std::array<std::int32_t, 64>& quantisation, std::int64_t size, JpegScan& scan) {
  constexpr std::int64_t kLine = 64 / sizeof(std::int16_t);
  const std::span<const int> rows = used_rows(size);
  scan.used = std::ssize(rows) * std::ssize(rows);
  // One extra block receives the coefficients of other planes. Vectors may begin at any block. The number of cache
  // lines is odd, so that rows do not share a cache set.
  scan.stride = kLine * (divided_up(scan.pitch * scan.plane_rows + 1 + JpegScan::kMostLanes, kLine) | 1);
  std::array<std::int64_t, 64> places{};
  places.fill(scan.used);
  std::int64_t number = 0;
  for (const int row : rows) {
    for (const int column : rows) {
      const auto natural = static_cast<std::size_t>(row) * 8 + static_cast<std::size_t>(column);
      scan.quantisation[static_cast<std::size_t>(number)] = quantisation[natural];
      places[natural] = number++;
    }
  }
  scan.places.fill(static_cast<std::uint32_t>(scan.used * scan.stride));
  for (std::size_t k = 0; k < 64; ++k) {
    scan.places[(62 - k) % 64] = static_cast<std::uint32_t>(places[jpeg_zigzag()[k]] * scan.stride);
  }
}

// Sets the slots of a unit's blocks. Returns false if the first plane is subsampled.
bool place_units(const BaselineJpeg& jpeg, JpegScan& scan) {
  const bool is_alone = jpeg.components.size() == 1;  // a unit is then one block, regardless of sampling factors
  const BaselineJpeg::Component& luma = jpeg.components[0];
  const std::int64_t columns = is_alone ? 1 : luma.columns, rows = is_alone ? 1 : luma.rows;
  scan.unit_columns = divided_up(jpeg.width_px, kBlock_px * columns);
  scan.unit_rows = divided_up(jpeg.height_px, kBlock_px * rows);
  scan.plane_rows = rows;
  scan.pitch = scan.unit_columns * columns;
  scan.planes.reserve(jpeg.components.size());
  for (const BaselineJpeg::Component& component : jpeg.components) {
    if (!is_alone && (component.columns > columns || component.rows > rows)) return false;
    const std::size_t plane = scan.planes.size();
    const JpegCode& dc = *jpeg.dc[static_cast<std::size_t>(component.dc)];
    const JpegCode& ac = *jpeg.ac[static_cast<std::size_t>(component.ac)];
    JpegScan::Plane& codes = scan.planes.emplace_back(JpegScan::Plane{.dc = &dc, .ac = &ac});
    fill_jpeg_steps(ac, ac, std::span(codes.steps).first<JpegScan::kSteps>());
    fill_jpeg_steps(dc, ac, std::span(codes.steps).last<JpegScan::kSteps>());
    const std::int64_t blocks = is_alone ? 1 : component.columns * component.rows;
    for (std::int64_t i = 0; i < blocks; ++i) {
      const std::int64_t at = i / columns * scan.pitch + i % columns;
      scan.slots.push_back(plane == 0 ? JpegScan::Slot{.plane = 0, .at = at, .pitch = columns}
                                      : JpegScan::Slot{.plane = plane, .at = scan.pitch * rows, .pitch = 0});
    }
  }
  return true;
}

std::int8_t skip_of(const JpegCode::Whole& symbol) {
  return static_cast<std::int8_t>(symbol.skip == JpegCode::kEndOfBlock ? -JpegStep::kEnd : symbol.skip);
}

JpegStep step_of_one(const JpegCode::Whole& one) {
  if (one.skip == 0 && one.bits == 0) return JpegStep();
  if (one.skip == 0) {
    return JpegStep({.last_value = static_cast<std::int16_t>(one.value & 15),
                     .first_skip = static_cast<std::int8_t>((one.value >> 4) + 1),
                     .least = JpegStep::kLong,
                     .bits = one.bits});
  }
  const bool is_end = one.skip == JpegCode::kEndOfBlock;
  return JpegStep({.first_value = one.value,
                   .last_value = one.value,
                   .first_skip = skip_of(one),
                   .last_skip = skip_of(one),
                   .least = is_end ? std::uint8_t{0} : one.skip,
                   .bits = one.bits});
}

JpegStep step_of_two(const JpegCode::Whole& one, const JpegCode::Whole& two) {
  const auto last_skip = static_cast<std::int8_t>(one.skip + skip_of(two));
  return JpegStep({.first_value = one.value,
                   .last_value = two.value,
                   .first_skip = skip_of(one),
                   .last_skip = last_skip,
                   .least = two.skip == JpegCode::kEndOfBlock ? one.skip : static_cast<std::uint8_t>(last_skip),
                   .bits = static_cast<std::uint8_t>(one.bits + two.bits)});
}

}  // namespace

void fill_jpeg_steps(const JpegCode& first, const JpegCode& others, std::span<JpegStep> steps) {
  const std::size_t mask = steps.size() - 1;
  for (std::size_t bits = 0; bits < steps.size(); ++bits) {
    const JpegCode::Whole& one = first.whole[bits];
    const JpegCode::Whole& two = others.whole[bits << one.bits & mask];
    const bool is_followed = one.skip != 0 && one.skip != JpegCode::kEndOfBlock && two.skip != 0;
    steps[bits] = is_followed && one.bits + two.bits <= JpegCode::kLookBits ? step_of_two(one, two) : step_of_one(one);
  }
}

bool plan_jpeg_scan(const BaselineJpeg& jpeg, const ImageNeed& need, DecodeScratch& scratch, JpegScan& scan) {
  if (!place_units(jpeg, scan)) return false;
  scan.restart_units = jpeg.restart_units;
  const std::int64_t size = kBlock_px / need.reduction;
  scan.size = size;
  const auto place = [size](std::int64_t from, std::int64_t extent, std::int64_t picture_px, std::int64_t& first,
                            std::int64_t& count) {
    const std::int64_t blocks = divided_up(picture_px, kBlock_px);
    first = std::clamp<std::int64_t>(from / size, 0, blocks - 1);
    count = std::clamp<std::int64_t>(divided_up(from + extent, size), first + 1, blocks) - first;
  };
  place(need.left, need.width_px, jpeg.width_px, scan.first_column, scan.columns);
  place(need.top, need.height_px, jpeg.height_px, scan.first_row, scan.rows);
  scan.out_stride = divided_up(scan.columns, JpegScan::kMostLanes) * JpegScan::kMostLanes * size;
  place_coefficients(*jpeg.quantisation[static_cast<std::size_t>(jpeg.components[0].quantisation)], size, scan);
  return unstuff(jpeg, scratch, scan);
}

void show_jpeg_part(const BaselineJpeg& jpeg, const ImageNeed& need, const JpegScan& scan, Image& out) {
  const std::int64_t size = kBlock_px / need.reduction;
  const ImagePart part{.reduction = need.reduction,
                       .left = scan.first_column * size,
                       .top = scan.first_row * size,
                       .picture_width_px = jpeg.width_px,
                       .picture_height_px = jpeg.height_px};
  const std::int64_t width = std::min(scan.columns * size, divided_up(jpeg.width_px, need.reduction) - part.left);
  const std::int64_t height = std::min(scan.rows * size, divided_up(jpeg.height_px, need.reduction) - part.top);
  out.reset({.width_px = width, .height_px = height}, part);
  const auto levels = std::as_writable_bytes(scan.out);
  for (std::int64_t y = 0; y < height; ++y) {
    std::ranges::copy(levels.subspan(static_cast<std::size_t>(y * scan.out_stride), static_cast<std::size_t>(width)),
                      out.bytes().begin() + y * width);
  }
}

}  // namespace roentgen::data
