// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// PNG codec for every colour type and depth, interlaced or not. png_stream.h decodes the usual kinds; libspng decodes
// the others, and all files with an error. The CRC-32 of every chunk of the picture is verified, and damaged pictures
// are refused.
// As with libpng and Pillow, a wrong Adler-32 or surplus data after the last row are accepted if the chunks are valid.
// Chunks after the pixel data may be missing, and damaged ancillary chunks (text, time, colour profiles) are ignored.
#include <fmt/core.h>
#include <spng.h>

#include <algorithm>
#include <array>

#include "core/unique_handle.h"
#include "data/codec/big_endian.h"
#include "data/codec/channels.h"
#include "data/codec/codec_table.h"
#include "data/codec/png_stream.h"

namespace roentgen::data {
namespace {

using Bytes = std::span<const std::byte>;
using Context = UniqueHandle<spng_ctx, spng_ctx_free>;

constexpr std::string_view kThing = "data.png";
constexpr std::array<unsigned char, 8> kSignature{0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
// Limit on the decompressed size of one ancillary chunk, and of all that libspng stores. Colour profiles reach a few
// MiB.
constexpr std::size_t kChunkLimit_bytes = std::size_t{16} << 20;

bool probe(Bytes bytes) {
  return bytes.size() >= kSignature.size() &&
         std::equal(kSignature.begin(), kSignature.end(), bytes.begin(),
                    [](unsigned char c, std::byte b) { return c == std::to_integer<unsigned char>(b); });
}

Failure damaged(std::string_view what, int error) {
  return failure(kThing, what, "a complete PNG image", spng_strerror(error), "fetching the file again");
}

// Opens an spng context on `bytes`. Everything before the pixel data has then been read and its checksums verified.
Result<Context> open(Bytes bytes, std::string_view what, spng_ihdr& header) {
  Context context(spng_ctx_new(0));
  if (!context)
    return failure(kThing, what, "enough memory for a PNG decoder", "too little", "a smaller train.workers");
  int error = spng_set_crc_action(context.get(), SPNG_CRC_ERROR, SPNG_CRC_DISCARD);
  if (error == 0) error = spng_set_chunk_limits(context.get(), kChunkLimit_bytes, kChunkLimit_bytes);
  if (error == 0) error = spng_set_png_buffer(context.get(), bytes.data(), bytes.size());
  if (error == 0) error = spng_decode_chunks(context.get());
  if (error == 0) error = spng_get_ihdr(context.get(), &header);
  if (error != 0) return damaged(what, error);
  return context;
}

std::string_view colour_of(const spng_ihdr& header) {
  switch (header.color_type) {
    case SPNG_COLOR_TYPE_GRAYSCALE:
      return "gray";
    case SPNG_COLOR_TYPE_GRAYSCALE_ALPHA:
      return "gray+alpha";
    case SPNG_COLOR_TYPE_INDEXED:
      return "palette";
    case SPNG_COLOR_TYPE_TRUECOLOR:
      return "rgb";
    default:
      return "rgba";
  }
}

bool is_gray(const spng_ihdr& header) {
  return header.color_type == SPNG_COLOR_TYPE_GRAYSCALE || header.color_type == SPNG_COLOR_TYPE_GRAYSCALE_ALPHA;
}

Result<ImageInfo> read_info(Bytes bytes, std::string_view what) {
  spng_ihdr header{};
  const Result<Context> context = open(bytes, what, header);
  if (!context) return context.why();
  return ImageInfo{.format = "png",
                   .colour = colour_of(header),
                   .width_px = header.width,
                   .height_px = header.height,
                   .channels = is_gray(header) ? 1 : 3,
                   .bits = header.color_type == SPNG_COLOR_TYPE_INDEXED ? 8 : header.bit_depth};
}

// Layout of the pixels that libspng decodes: at full depth, in native byte order.
struct Plan {
  int format = SPNG_FMT_PNG;
  int channels = 1;
};

Plan plan_for(const spng_ihdr& header) {
  switch (header.color_type) {
    case SPNG_COLOR_TYPE_GRAYSCALE:
      return {header.bit_depth == 16 ? SPNG_FMT_PNG : SPNG_FMT_G8, 1};
    case SPNG_COLOR_TYPE_GRAYSCALE_ALPHA:
      return {SPNG_FMT_PNG, 2};
    case SPNG_COLOR_TYPE_INDEXED:
      return {SPNG_FMT_RGB8, 3};
    case SPNG_COLOR_TYPE_TRUECOLOR:
      return {SPNG_FMT_PNG, 3};
    default:
      return {SPNG_FMT_PNG, 4};
  }
}

// Returns false if the file ends inside a chunk of pixel data.
bool has_whole_pixel_chunks(Bytes bytes) {
  std::size_t at = kSignature.size();
  while (bytes.size() - at >= 8) {
    const std::size_t left = bytes.size() - at;
    const std::size_t chunk_bytes = std::size_t{12} + big_endian_at(bytes, at, 4);
    if (chunk_bytes > left) return big_endian_at(bytes, at + 4, 4) != 0x49444154U;  // "IDAT"
    at += chunk_bytes;
  }
  return true;
}

// Decodes and verifies. libspng stops at the last pixel, often before the last checksum, so this reads on to the end of
// the file. A file that ends early but after its pixel data is accepted.
int decode_all(spng_ctx* context, Bytes bytes, std::span<std::byte> pixels, int format) {
  int error = spng_decode_image(context, pixels.data(), pixels.size(), format, 0);
  if (error != 0) return error;
  error = spng_decode_chunks(context);
  return error == SPNG_IO_EOF && has_whole_pixel_chunks(bytes) ? 0 : error;
}

// Converts the channels of the file to the requested ones; `pixels` are in the machine's byte order.
void convert(std::span<const std::byte> pixels, int channels, Image& out) {
  with_sample_type(out.layout().bits, [&](auto sample) {
    using Sample = decltype(sample);
    const std::span samples(reinterpret_cast<const Sample*>(pixels.data()), pixels.size() / sizeof(Sample));
    convert_channels({samples, channels}, {out.samples<Sample>(), out.channels()});
  });
}

// Buffer for the file's pixels: `out` if it has their channels, else the scratch buffer.
std::span<std::byte> pixels_of(const DecodeJob& job, int channels, std::size_t bytes, Image& out) {
  if (channels == out.channels()) return out.bytes();
  return grown(job.scratch.pixels, bytes);
}

// Decodes with the fast path. Returns false if the fast path does not accept the file or the file is damaged.
bool decode_fast(const DecodeJob& job, Image& out) {
  const auto shape = stream_shape(job.bytes);
  if (!shape) return false;
  const std::span<std::byte> pixels = pixels_of(job, shape->channels, shape->height * shape->row_bytes(), out);
  if (!decode_png_stream(job.bytes, *shape, pixels, job.scratch)) return false;
  if (shape->channels != out.channels()) convert(pixels, shape->channels, out);
  return true;
}

Status decode(const DecodeJob& job, Image& out) {
  if (decode_fast(job, out)) return Done{};
  spng_ihdr header{};
  const Result<Context> context = open(job.bytes, job.what, header);
  if (!context) return context.why();
  const Plan plan = plan_for(header);
  std::size_t bytes = 0;
  if (const int error = spng_decoded_image_size(context.value().get(), plan.format, &bytes); error != 0) {
    return damaged(job.what, error);
  }
  const std::span<std::byte> pixels = pixels_of(job, plan.channels, bytes, out);
  RG_ASSERT(pixels.size() == bytes);
  if (const int error = decode_all(context.value().get(), job.bytes, pixels, plan.format); error != 0) {
    return damaged(job.what, error);
  }
  if (plan.channels != out.channels()) convert(pixels, plan.channels, out);
  return Done{};
}

}  // namespace

const Codec& codec_png() {
  static constexpr Codec kCodec{"png", "PNG", probe, read_info, decode};
  return kCodec;
}

}  // namespace roentgen::data
