// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The fast path decodes common files to the same pixels as libspng, and leaves all other files to libspng.
// png_test.cpp, damage_test.cpp and codec_real_test.cpp test libspng's part.
#include "data/codec/png_stream.h"

#include <gtest/gtest.h>
#include <isa-l/crc.h>
#include <spng.h>

#include <array>
#include <string_view>
#include <vector>

#include "data/codec/codec_testing.h"

namespace roentgen::data {
namespace {

using File = std::vector<std::byte>;

// Limit on the picture size that a damaged header may claim.
constexpr std::size_t kMostBytes = std::size_t{1} << 24;

File written(const PngShape& shape, std::span<const std::byte> pixels) {
  constexpr std::array<std::uint8_t, 5> kColours{0, SPNG_COLOR_TYPE_GRAYSCALE, SPNG_COLOR_TYPE_GRAYSCALE_ALPHA,
                                                 SPNG_COLOR_TYPE_TRUECOLOR, SPNG_COLOR_TYPE_TRUECOLOR_ALPHA};
  return encode_test_png({.width_px = static_cast<std::uint32_t>(shape.width),
                          .height_px = static_cast<std::uint32_t>(shape.height),
                          .colour_type = kColours.at(static_cast<std::size_t>(shape.channels)),
                          .bit_depth = static_cast<std::uint8_t>(shape.bits),
                          .samples = {pixels.begin(), pixels.end()},
                          .palette = {},
                          .palette_alpha = {}});
}

std::vector<std::byte> picture(const PngShape& shape) { return smooth_bytes(shape.row_bytes(), shape.height, 1); }

/// Output of decode_png_stream(); empty if it returns false.
std::vector<std::byte> streamed(const File& file) {
  const auto shape = stream_shape(file);
  if (!shape || shape->height * shape->row_bytes() > kMostBytes) return {};
  std::vector<std::byte> out(shape->height * shape->row_bytes());
  DecodeScratch scratch;
  if (!decode_png_stream(file, *shape, out, scratch)) return {};
  return out;
}

void append_number(File& file, std::size_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) file.push_back(static_cast<std::byte>(value >> shift & 0xFFU));
}

void append_chunk(File& file, std::string_view type, std::span<const std::byte> data) {
  append_number(file, data.size());
  const std::size_t first = file.size();
  const auto name = as_bytes(type);
  file.insert(file.end(), name.begin(), name.end());
  file.insert(file.end(), data.begin(), data.end());
  append_number(file,
                crc32_gzip_refl(0, reinterpret_cast<const unsigned char*>(file.data() + first), file.size() - first));
}

/// Position of the length field of the first chunk with this type.
std::size_t find_chunk(const File& file, std::string_view type) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  return text.find(type) - 4;
}

/// Returns the file with its pixel data in chunks of at most `most` bytes, followed by `extra`.
File in_chunks(const File& file, std::size_t most, std::span<const std::byte> extra = {}) {
  const auto first = static_cast<std::ptrdiff_t>(find_chunk(file, "IDAT"));
  const auto end = static_cast<std::ptrdiff_t>(find_chunk(file, "IEND"));
  // libspng writes chunks of 8 KiB or more, so they are joined first.
  File data;
  for (auto at = first; at < end;) {
    std::size_t length = 0;
    for (std::ptrdiff_t k = 0; k < 4; ++k)
      length = length << 8U | std::to_integer<std::size_t>(file[static_cast<std::size_t>(at + k)]);
    data.insert(data.end(), file.begin() + at + 8, file.begin() + at + 8 + static_cast<std::ptrdiff_t>(length));
    at += static_cast<std::ptrdiff_t>(length) + 12;
  }
  data.insert(data.end(), extra.begin(), extra.end());
  File result(file.begin(), file.begin() + first);
  for (std::size_t at = 0; at < data.size(); at += most) {
    append_chunk(result, "IDAT", std::span(data).subspan(at, std::min(most, data.size() - at)));
  }
  result.insert(result.end(), file.begin() + end, file.end());
  return result;
}

const PngShape kGray{.width = 100, .height = 150};

TEST(PngStream, gives_the_pixels_of_every_kind_it_is_for) {
  for (const int channels : {1, 2, 3, 4}) {
    for (const int bits : {8, 16}) {
      for (const std::size_t height : {1, 63, 64, 65, 200}) {
        const PngShape shape{.width = 37, .height = height, .channels = channels, .bits = bits};
        const auto pixels = picture(shape);
        EXPECT_EQ(streamed(written(shape, pixels)), pixels) << channels << ' ' << bits << ' ' << height;
      }
    }
  }
}

TEST(PngStream, takes_no_file_that_is_cut_short) {
  const File file = written(kGray, picture(kGray));
  const std::size_t end = find_chunk(file, "IEND");
  for (std::size_t bytes = 8; bytes < end; bytes += 1 + bytes / 100) {
    EXPECT_TRUE(streamed({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(bytes)}).empty()) << bytes;
  }
}

// Every chunk has a checksum. So a changed byte is detected anywhere except in the end chunk's own length and type.
TEST(PngStream, takes_no_file_in_which_a_byte_of_the_picture_was_changed) {
  const auto pixels = picture(kGray);
  const File file = written(kGray, pixels);
  const std::size_t end = find_chunk(file, "IEND");
  for (std::size_t at = 8; at < end; at += 1 + at / 200) {
    File damaged = file;
    damaged[at] ^= std::byte{0x10};
    EXPECT_TRUE(streamed(damaged).empty()) << at;
  }
}

TEST(PngStream, reads_data_in_chunks_of_any_size) {
  const auto pixels = picture(kGray);
  const File file = written(kGray, pixels);
  for (const std::size_t most : {1, 7, 100, 5000}) EXPECT_EQ(streamed(in_chunks(file, most)), pixels) << most;
}

TEST(PngStream, leaves_files_with_more_data_than_pixels_to_libspng) {
  const File file = written(kGray, picture(kGray));
  const std::byte one{0};
  EXPECT_TRUE(streamed(in_chunks(file, 5000, {&one, 1})).empty());
  // Removes a row from the header and corrects its checksum.
  File lower(file.begin(), file.begin() + 8);
  File header(file.begin() + 16, file.begin() + 29);
  header[7] = static_cast<std::byte>(kGray.height - 1);
  append_chunk(lower, "IHDR", header);
  lower.insert(lower.end(), file.begin() + 33, file.end());
  EXPECT_TRUE(stream_shape(lower).has_value());
  EXPECT_TRUE(streamed(lower).empty());
}

TEST(PngStream, passes_over_sound_ancillary_chunks_alone) {
  const auto pixels = picture(kGray);
  const File file = written(kGray, pixels);
  const auto with = [&](std::string_view type) {
    File more(file.begin(), file.begin() + 33);
    append_chunk(more, type, as_bytes("anything"));
    more.insert(more.end(), file.begin() + 33, file.end());
    return more;
  };
  EXPECT_EQ(streamed(with("tEXt")), pixels);
  EXPECT_TRUE(streamed(with("NEWc")).empty()) << "critical";
  File damaged = with("tEXt");
  damaged[33 + 9] ^= std::byte{1};
  EXPECT_TRUE(streamed(damaged).empty());
}

TEST(PngStream, leaves_other_kinds_alone) {
  const File file = written(kGray, picture(kGray));
  const auto with_header_byte = [&](std::size_t at, int value) {
    File other = file;
    other[at] = static_cast<std::byte>(value);
    return stream_shape(other).has_value();
  };
  EXPECT_TRUE(with_header_byte(24, 16));
  for (const int depth : {1, 2, 4, 7}) EXPECT_FALSE(with_header_byte(24, depth)) << depth;
  for (const int colour : {1, 3, 5, 7, 200}) EXPECT_FALSE(with_header_byte(25, colour)) << colour;
  for (const std::size_t at : {26, 27, 28}) EXPECT_FALSE(with_header_byte(at, 1)) << "compression, filter, interlace";
  EXPECT_FALSE(with_header_byte(16, 0xFF)) << "wider than anything";
  EXPECT_FALSE(stream_shape(std::span(file).first(20)).has_value());
}

}  // namespace
}  // namespace roentgen::data
