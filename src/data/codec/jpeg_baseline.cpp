// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/jpeg_baseline.h"

#include <algorithm>
#include <numeric>

namespace roentgen::data {
namespace {

constexpr std::array<std::uint8_t, 64> kZigzag{0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                               12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                               35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                               58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

using Segment = std::span<const std::uint8_t>;

int u16(Segment at) { return at[0] << 8 | at[1]; }

// Effect of a symbol on a block. The lower half of a symbol is the size of its value. The upper half of an AC symbol is
// the run.
struct Meaning {
  int size = 0;
  int skip = 0;
};
std::optional<Meaning> meaning_of(std::uint8_t symbol, JpegBand band) {
  const int size = band == JpegBand::Dc ? symbol : symbol & 15;
  const int run = band == JpegBand::Dc ? 0 : symbol >> 4;
  if (size > (band == JpegBand::Dc ? 11 : 10)) return std::nullopt;
  if (band == JpegBand::Ac && size == 0 && run != 0 && run != 15) return std::nullopt;
  return Meaning{.size = size, .skip = symbol == 0 && band == JpegBand::Ac ? JpegCode::kEndOfBlock : run + 1};
}

// Fills all table entries that begin with `code` of `length` bits. Includes the value if it fits into the bits of a
// lookup.
void fill_whole(JpegCode& table, int code, int length, const Meaning& meaning) {
  const int bits = length + meaning.size;
  if (bits > JpegCode::kLookBits) {
    const int rest = JpegCode::kLookBits - length;
    const auto first = table.whole.begin() + (code << rest);
    const JpegCode::Whole entry{.value = static_cast<std::int16_t>((meaning.skip - 1) * 16 + meaning.size),
                                .bits = static_cast<std::uint8_t>(length)};
    std::fill(first, first + (std::ptrdiff_t{1} << rest), entry);
    return;
  }
  const int rest = JpegCode::kLookBits - bits;
  for (int value = 0; value < 1 << meaning.size; ++value) {
    const bool is_negative = meaning.size > 0 && value < 1 << (meaning.size - 1);
    const int number = is_negative ? value - (1 << meaning.size) + 1 : value;
    const JpegCode::Whole entry{.value = static_cast<std::int16_t>(number),
                                .skip = static_cast<std::uint8_t>(meaning.skip),
                                .bits = static_cast<std::uint8_t>(bits)};
    const auto first = table.whole.begin() + (((code << meaning.size) | value) << rest);
    std::fill(first, first + (std::ptrdiff_t{1} << rest), entry);
  }
}

bool read_quantisation(Segment segment, BaselineJpeg& jpeg) {
  while (!segment.empty()) {
    const std::size_t bytes = segment[0] >> 4 == 0 ? 1 : 2;
    const std::size_t number = segment[0] & 15;
    if (segment[0] >> 4 > 1 || number > 3 || segment.size() < 1 + 64 * bytes) return false;
    auto& table = jpeg.quantisation[number].emplace();
    for (std::size_t i = 0; i < 64; ++i) {
      table[kZigzag[i]] = bytes == 1 ? segment[1 + i] : u16(segment.subspan(1 + 2 * i));
    }
    segment = segment.subspan(1 + 64 * bytes);
  }
  return true;
}

bool read_codes(Segment segment, BaselineJpeg& jpeg) {
  while (!segment.empty()) {
    if (segment.size() < 17) return false;
    const std::size_t number = segment[0] & 15;
    const int kind = segment[0] >> 4;
    const Segment counts = segment.subspan(1, 16);
    const auto symbols = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    if (kind > 1 || number > 3 || symbols > 256 || segment.size() < 17 + symbols) return false;
    const JpegBand band = kind == 0 ? JpegBand::Dc : JpegBand::Ac;
    auto code = make_jpeg_code(counts, segment.subspan(17, symbols), band);
    if (!code) return false;
    (band == JpegBand::Dc ? jpeg.dc : jpeg.ac)[number] = *code;
    segment = segment.subspan(17 + symbols);
  }
  return true;
}

bool read_frame(Segment segment, BaselineJpeg& jpeg) {
  if (segment.size() < 6 || segment[0] != 8 || !jpeg.components.empty()) return false;
  jpeg.height_px = u16(segment.subspan(1));
  jpeg.width_px = u16(segment.subspan(3));
  const std::size_t count = segment[5];
  if (jpeg.width_px < 1 || jpeg.height_px < 1 || (count != 1 && count != 3)) return false;
  if (segment.size() != 6 + 3 * count) return false;
  for (std::size_t i = 0; i < count; ++i) {
    const Segment at = segment.subspan(6 + 3 * i);
    const BaselineJpeg::Component component{
        .identifier = at[0], .columns = at[1] >> 4, .rows = at[1] & 15, .quantisation = at[2]};
    if (component.columns < 1 || component.columns > 4 || component.rows < 1 || component.rows > 4) return false;
    if (component.quantisation > 3) return false;
    jpeg.components.push_back(component);
  }
  return true;
}

bool read_scan(Segment segment, BaselineJpeg& jpeg) {
  const std::size_t count = jpeg.components.size();
  if (count == 0 || segment.size() != 4 + 2 * count || segment[0] != count) return false;
  for (std::size_t i = 0; i < count; ++i) {
    BaselineJpeg::Component& component = jpeg.components[i];
    component.dc = segment[2 + 2 * i] >> 4;
    component.ac = segment[2 + 2 * i] & 15;
    if (segment[1 + 2 * i] != component.identifier || component.dc > 3 || component.ac > 3) return false;
    if (!jpeg.dc[static_cast<std::size_t>(component.dc)] || !jpeg.ac[static_cast<std::size_t>(component.ac)]) {
      return false;
    }
  }
  const Segment spectrum = segment.last(3);
  return spectrum[0] == 0 && spectrum[1] == 63 && spectrum[2] == 0 &&
         jpeg.quantisation[static_cast<std::size_t>(jpeg.components[0].quantisation)].has_value();
}

}  // namespace

const std::array<std::uint8_t, 64>& jpeg_zigzag() { return kZigzag; }

std::optional<JpegCode> make_jpeg_code(std::span<const std::uint8_t> counts, std::span<const std::uint8_t> symbols,
                                       JpegBand band) {
  JpegCode table;
  table.symbol_count = static_cast<int>(symbols.size());
  std::ranges::copy(symbols, table.symbols.begin());
  int code = 0, next = 0;
  for (int length = 1; length <= JpegCode::kMostBits; ++length) {
    const int count = counts[static_cast<std::size_t>(length - 1)];
    if (code + count > 1 << length || next + count > table.symbol_count) return std::nullopt;
    table.offset[static_cast<std::size_t>(length)] = next - code;
    for (int i = 0; i < count; ++i, ++code, ++next) {
      const auto meaning = meaning_of(symbols[static_cast<std::size_t>(next)], band);
      if (!meaning) return std::nullopt;
      if (length <= JpegCode::kLookBits) fill_whole(table, code, length, *meaning);
    }
    table.end[static_cast<std::size_t>(length)] = static_cast<std::uint32_t>(code) << (JpegCode::kMostBits - length);
    code <<= 1;
  }
  return table;
}

std::optional<BaselineJpeg> read_baseline_jpeg(std::span<const std::byte> file) {
  constexpr int kStart = 0xFFD8, kFrame0 = 0xFFC0, kFrame1 = 0xFFC1, kCodes = 0xFFC4, kScan = 0xFFDA;
  constexpr int kQuantisation = 0xFFDB, kRestart = 0xFFDD, kComment = 0xFFFE;
  const Segment bytes(reinterpret_cast<const std::uint8_t*>(file.data()), file.size());
  if (bytes.size() < 4 || u16(bytes) != kStart) return std::nullopt;
  BaselineJpeg jpeg;
  std::size_t at = 2;
  while (at + 4 <= bytes.size()) {
    const int marker = u16(bytes.subspan(at));
    const auto length = static_cast<std::size_t>(u16(bytes.subspan(at + 2)));
    if (length < 2 || length > bytes.size() - at - 2) return std::nullopt;
    const Segment segment = bytes.subspan(at + 4, length - 2);
    at += 2 + length;
    const bool is_of_others = (marker >= 0xFFE0 && marker <= 0xFFEF) || marker == kComment;
    bool is_known = is_of_others;
    if (marker == kQuantisation) is_known = read_quantisation(segment, jpeg);
    if (marker == kCodes) is_known = read_codes(segment, jpeg);
    if (marker == kFrame0 || marker == kFrame1) is_known = read_frame(segment, jpeg);
    if (marker == kRestart) {
      is_known = segment.size() == 2;
      if (is_known) jpeg.restart_units = u16(segment);
    }
    if (marker == kScan) {
      if (!read_scan(segment, jpeg)) return std::nullopt;
      jpeg.scan = file.subspan(at);
      return jpeg;
    }
    if (!is_known) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace roentgen::data
