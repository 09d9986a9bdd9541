// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/png_stream.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>

#include "data/codec/big_endian.h"
#include "data/codec/png_filters.h"

namespace roentgen::data {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::size_t kSignatureBytes = 8;
constexpr std::uint32_t kHeader = 0x49484452, kData = 0x49444154, kEnd = 0x49454E44;

std::span<std::uint8_t> unsigned_bytes(std::span<std::byte> bytes) {
  return {reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()};
}

struct Chunk {
  std::uint32_t type = 0;
  Bytes data;
  /// True if the CRC-32 of the chunk's type and data is right.
  bool is_sound = false;

  // True for an ancillary chunk, which decoding does not need (bit 5 of the type's first letter).
  [[nodiscard]] bool is_ancillary() const { return (type & 0x20000000U) != 0; }
};

/// Iterates over the chunks of a file.
class Chunks {
 public:
  explicit Chunks(Bytes bytes) : bytes_(bytes), at_(kSignatureBytes) {}

  /// Returns the next chunk; nullopt at the end, or if the file is truncated.
  std::optional<Chunk> next() {
    if (bytes_.size() - at_ < 12) return std::nullopt;
    const std::size_t length = big_endian_at(bytes_, at_, 4);
    if (bytes_.size() - at_ - 12 < length) return std::nullopt;
    const Bytes named = bytes_.subspan(at_ + 4, length + 4);
    const auto* text = reinterpret_cast<const unsigned char*>(named.data());
    Chunk chunk{.type = big_endian_at(named, 0, 4), .data = named.subspan(4)};
    chunk.is_sound = crc32_gzip_refl(0, text, named.size()) == big_endian_at(bytes_, at_ + 8 + length, 4);
    at_ += length + 12;
    return chunk;
  }

 private:
  Bytes bytes_;
  std::size_t at_;
};

/// True if the zlib stream `packed` unpacks to exactly the size of `filtered`, uses every byte, and has the right
/// Adler-32.
bool inflate_whole(std::span<const std::uint8_t> packed, std::span<std::uint8_t> filtered) {
  const auto state = std::make_unique<inflate_state>();
  isal_inflate_init(state.get());
  state->crc_flag = ISAL_ZLIB;
  // ISA-L only reads the input, but takes a non-const pointer.
  state->next_in = const_cast<std::uint8_t*>(packed.data());
  state->avail_in = static_cast<std::uint32_t>(packed.size());
  state->next_out = filtered.data();
  state->avail_out = static_cast<std::uint32_t>(filtered.size());
  // Whole bytes left in ISA-L's bit buffer are surplus data after the end, too.
  return isal_inflate_stateless(state.get()) == ISAL_DECOMP_OK && state->avail_out == 0 && state->avail_in == 0 &&
         state->read_in_length < 8;
}

/// Joins the pixel data of a picture in `packed`, which is as large as the file. Returns 0 if the chunks are not as
/// decode_png_stream() requires.
std::size_t gather(Bytes bytes, std::span<std::uint8_t> packed) {
  std::size_t length = 0;
  Chunks chunks(bytes);
  const auto header = chunks.next();
  if (!header || header->type != kHeader || !header->is_sound) return 0;
  enum class Part : std::uint8_t { Before, Within, Behind };
  Part part = Part::Before;
  while (const auto chunk = chunks.next()) {
    if (!chunk->is_sound) return 0;
    if (chunk->type == kData) {
      if (part == Part::Behind) return 0;
      part = Part::Within;
      if (!chunk->data.empty()) std::memcpy(packed.data() + length, chunk->data.data(), chunk->data.size());
      length += chunk->data.size();
      continue;
    }
    if (part == Part::Within) part = Part::Behind;
    if (chunk->type == kEnd) break;
    if (!chunk->is_ancillary()) return 0;
  }
  return part == Part::Behind ? length : 0;
}

}  // namespace

std::optional<PngShape> stream_shape(Bytes bytes) {
  constexpr std::size_t kHeaderData = kSignatureBytes + 8;
  if (bytes.size() < kHeaderData + 13) return std::nullopt;
  const Bytes data = bytes.subspan(kHeaderData, 13);
  const int depth = std::to_integer<int>(data[8]), colour = std::to_integer<int>(data[9]);
  const bool is_plain = data[10] == std::byte{0} && data[11] == std::byte{0} && data[12] == std::byte{0};
  // Number of channels by PNG colour type: gray, RGB, palette, gray and alpha, RGBA.
  constexpr std::array<int, 7> kChannels{1, 0, 3, 0, 2, 0, 4};
  const int channels = colour < std::ssize(kChannels) ? kChannels.at(static_cast<std::size_t>(colour)) : 0;
  if (!is_plain || channels == 0 || (depth != 8 && depth != 16)) return std::nullopt;
  const PngShape shape{
      .width = big_endian_at(data, 0, 4), .height = big_endian_at(data, 4, 4), .channels = channels, .bits = depth};
  if (shape.width == 0 || shape.height == 0) return std::nullopt;
  // The library counts in 32 bits, so larger pictures are left to libspng. The division cannot overflow.
  const std::size_t most = std::numeric_limits<std::int32_t>::max();
  if (bytes.size() > most || shape.row_bytes() + 1 > most / shape.height) return std::nullopt;
  return shape;
}

bool decode_png_stream(Bytes bytes, const PngShape& shape, std::span<std::byte> out, DecodeScratch& scratch) {
  const std::span<std::uint8_t> room = unsigned_bytes(grown(scratch.packed, bytes.size()));
  const std::size_t packed_bytes = gather(bytes, room);
  const std::span<std::uint8_t> filtered =
      unsigned_bytes(grown(scratch.filtered, shape.height * (shape.row_bytes() + 1)));
  if (packed_bytes == 0 || !inflate_whole(room.first(packed_bytes), filtered)) return false;
  const FilteredRows rows{.bytes = filtered, .row_bytes = shape.row_bytes(), .pixel_bytes = shape.pixel_bytes()};
  if (!undo_row_filters(rows, {}, unsigned_bytes(out), scratch.lanes)) return false;
  if (shape.bits == 16) {
    auto* samples = reinterpret_cast<std::uint16_t*>(out.data());
    for (std::size_t i = 0; i < out.size() / 2; ++i) samples[i] = __builtin_bswap16(samples[i]);
  }
  return true;
}

}  // namespace roentgen::data
