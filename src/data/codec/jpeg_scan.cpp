// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/jpeg_scan.h"

#include <algorithm>
#include <cstring>

namespace roentgen::data {
namespace {

// More than the inner loop reads behind the end of a segment.
constexpr std::size_t kPadding = 32;
constexpr int kBlock_px = 8;

std::int64_t divided_up(std::int64_t number, std::int64_t by) { return (number + by - 1) / by; }

// Takes the zeros behind every 255 out, and the restart markers. False: another marker than the end's, or none.
bool unstuff(const BaselineJpeg& jpeg, DecodeScratch& scratch, JpegScan& scan) {
  const std::size_t most_segments =
      jpeg.restart_units == 0 ? 1
                              : static_cast<std::size_t>(divided_up(scan.unit_columns * scan.unit_rows,
                                                                    static_cast<std::int64_t>(jpeg.restart_units)));
  // A segment takes its marker at least, so there are no more of them than a file has room for.
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

}  // namespace

const JpegPlaces& jpeg_places() {
  static const auto kPlaces = [] {
    JpegPlaces places{};
    places.fill(JpegScan::kBeyond);
    std::ranges::copy(jpeg_zigzag(), places.begin());
    return places;
  }();
  return kPlaces;
}

bool plan_jpeg_scan(const BaselineJpeg& jpeg, const ImageNeed& need, DecodeScratch& scratch, JpegScan& scan) {
  std::int64_t columns = 1, rows = 1;
  for (const BaselineJpeg::Component& component : jpeg.components) {
    const bool is_alone = jpeg.components.size() == 1;  // then a unit is a block, whatever the factors say
    scan.planes.push_back({.columns = is_alone ? 1 : component.columns,
                           .rows = is_alone ? 1 : component.rows,
                           .dc = &*jpeg.dc[static_cast<std::size_t>(component.dc)],
                           .ac = &*jpeg.ac[static_cast<std::size_t>(component.ac)]});
    columns = std::max(columns, scan.planes.back().columns);
    rows = std::max(rows, scan.planes.back().rows);
  }
  if (scan.planes[0].columns != columns || scan.planes[0].rows != rows) return false;
  scan.quantisation = *jpeg.quantisation[static_cast<std::size_t>(jpeg.components[0].quantisation)];
  scan.unit_columns = divided_up(jpeg.width_px, kBlock_px * columns);
  scan.unit_rows = divided_up(jpeg.height_px, kBlock_px * rows);
  scan.restart_units = jpeg.restart_units;
  const std::int64_t size = kBlock_px / need.reduction;
  const auto place = [size](std::int64_t from, std::int64_t extent, std::int64_t picture_px, std::int64_t& first,
                            std::int64_t& count) {
    const std::int64_t blocks = divided_up(picture_px, kBlock_px);
    first = std::clamp<std::int64_t>(from / size, 0, blocks - 1);
    count = std::clamp<std::int64_t>(divided_up(from + extent, size), first + 1, blocks) - first;
  };
  place(need.left, need.width_px, jpeg.width_px, scan.first_column, scan.columns);
  place(need.top, need.height_px, jpeg.height_px, scan.first_row, scan.rows);
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
    std::ranges::copy(
        levels.subspan(static_cast<std::size_t>(y * scan.columns * size), static_cast<std::size_t>(width)),
        out.bytes().begin() + y * width);
  }
}

}  // namespace roentgen::data
