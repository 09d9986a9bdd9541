// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/png_writer.h"

#include <spng.h>

#include <cstdlib>
#include <string>

#include "core/error.h"
#include "core/unique_handle.h"
#include "io/file.h"

namespace roentgen::io {
namespace {
// Limit of the PNG format (specification, 11.2.2).
constexpr std::int64_t kLimitPx = 0x7fffffff;

void check(int code) {
  if (code != 0) throw DataError(error_text("io.png", "libspng", "an encoded image", spng_strerror(code)));
}

std::string describe(const PngImage& image) {
  return std::to_string(image.width_px) + "x" + std::to_string(image.height_px) + ", " +
         std::to_string(image.channels) + " channels of " + std::to_string(image.bits) + " bits, " +
         std::to_string(image.pixels.size()) + " bytes";
}

void validate(const PngImage& image, int level) {
  const auto refuse = [&image](std::string_view expected) {
    throw ShapeError(error_text("io.png", "image to encode", expected, describe(image)));
  };
  if (image.width_px < 1 || image.height_px < 1 || image.width_px > kLimitPx || image.height_px > kLimitPx) {
    refuse("1 to 2147483647 px a side");
  }
  if (image.channels != 1 && image.channels != 3 && image.channels != 4) refuse("1, 3 or 4 channels");
  if (image.bits != 8 && image.bits != 16) refuse("8 or 16 bits");
  if (image.significant_bits < 0 || image.significant_bits > image.bits) {
    throw ShapeError(error_text("io.png", "significant bits", "0 (all) to " + std::to_string(image.bits),
                                std::to_string(image.significant_bits)));
  }
  // Sides are below 2^31 and a pixel has at most 8 bytes, so nothing overflows 128 bits.
  __extension__ using Wide = unsigned __int128;
  const Wide bytes = static_cast<Wide>(image.width_px) * static_cast<Wide>(image.height_px) *
                     static_cast<Wide>(image.channels * image.bits / 8);
  if (bytes != image.pixels.size()) refuse("width x height x channels x bits / 8 bytes");
  if (level < 1 || level > 9) {
    throw ConfigError(error_text("io.png", "compression level", "1 to 9", std::to_string(level)));
  }
}

std::uint8_t color_type(int channels) {
  if (channels == 1) return SPNG_COLOR_TYPE_GRAYSCALE;
  return channels == 3 ? SPNG_COLOR_TYPE_TRUECOLOR : SPNG_COLOR_TYPE_TRUECOLOR_ALPHA;
}

spng_sbit significant(const PngImage& image) {
  const auto bits = static_cast<std::uint8_t>(image.significant_bits);
  return {.grayscale_bits = bits, .red_bits = bits, .green_bits = bits, .blue_bits = bits, .alpha_bits = bits};
}
}  // namespace

std::vector<std::byte> encode_png(const PngImage& image, int level) {
  validate(image, level);
  const UniqueHandle<spng_ctx, spng_ctx_free> context(spng_ctx_new(SPNG_CTX_ENCODER));
  if (!context) throw DataError(error_text("io.png", "libspng", "enough memory for an encoder", "too little"));
  check(spng_set_option(context.get(), SPNG_ENCODE_TO_BUFFER, 1));
  check(spng_set_option(context.get(), SPNG_IMG_COMPRESSION_LEVEL, level));
  check(spng_set_option(context.get(), SPNG_FILTER_CHOICE, SPNG_FILTER_CHOICE_ALL));
  spng_ihdr header{};
  header.width = static_cast<std::uint32_t>(image.width_px);
  header.height = static_cast<std::uint32_t>(image.height_px);
  header.bit_depth = static_cast<std::uint8_t>(image.bits);
  header.color_type = color_type(image.channels);
  check(spng_set_ihdr(context.get(), &header));
  if (image.significant_bits > 0) {
    spng_sbit bits = significant(image);
    check(spng_set_sbit(context.get(), &bits));
  }
  check(spng_encode_image(context.get(), image.pixels.data(), image.pixels.size(), SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE));
  std::size_t size_bytes = 0;
  int code = 0;
  const UniqueHandle<void, std::free> encoded(spng_get_png_buffer(context.get(), &size_bytes, &code));
  check(code);
  const auto* first = static_cast<const std::byte*>(encoded.get());
  return {first, first + size_bytes};
}

void write_png(const std::filesystem::path& path, const PngImage& image, int level) {
  const std::vector<std::byte> encoded = encode_png(image, level);
  AtomicFile file(path);
  file.write(encoded);
  file.commit();
}

}  // namespace roentgen::io
