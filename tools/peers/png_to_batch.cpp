// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// One worker on one core: PNG radiographs in memory to normalised rows of a batch, by our decoder and by the libraries
// that others use, each followed by the same resize. Rounds are interleaved.
//
//   png_to_batch FOLDER [ROUNDS [SIZE]]      files with every row filtered by Sub are left out: somebody re-encoded
//   them
//
// Prints a line of JSON a round: milliseconds an image for every decoder, and for the resize alone. Exits 1 when two
// decoders give different pixels.
#include <fmt/core.h>
#include <libdeflate.h>
#include <png.h>
#include <spng.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/codec/codec.h"
#include "data/codec/png_stream.h"
#include "data/transform/transform.h"

namespace {

using namespace roentgen;
using Bytes = std::vector<std::byte>;
using Clock = std::chrono::steady_clock;

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  Bytes bytes(text.size());
  std::ranges::transform(text, bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

std::uint32_t big_endian(const std::byte* at) {
  return std::to_integer<std::uint32_t>(at[0]) << 24 | std::to_integer<std::uint32_t>(at[1]) << 16 |
         std::to_integer<std::uint32_t>(at[2]) << 8 | std::to_integer<std::uint32_t>(at[3]);
}

// The data chunks, joined.
void gather(const Bytes& file, Bytes& packed) {
  packed.clear();
  for (std::size_t at = 8; at + 12 <= file.size();) {
    const std::uint32_t size = big_endian(&file[at]);
    if (size > file.size() - at - 12) return;
    if (big_endian(&file[at + 4]) == 0x49444154) packed.insert(packed.end(), &file[at + 8], &file[at + 8] + size);
    at += 12 + size;
  }
}

// What a decoder of one's own over libdeflate is at its simplest: whole stream first, then row by row.
class Deflate {
 public:
  void decode(const Bytes& file, data::Image& out) {
    const auto shape = *data::stream_shape(file);
    gather(file, packed_);
    rows_.resize(shape.height * (shape.row_bytes() + 1));
    if (libdeflate_zlib_decompress(state_.get(), packed_.data(), packed_.size(), rows_.data(), rows_.size(), nullptr) !=
        LIBDEFLATE_SUCCESS) {
      std::abort();
    }
    auto* pixels = out.samples<std::uint8_t>().data();
    const std::size_t width = shape.row_bytes();
    const std::vector<std::uint8_t> nothing(width);
    const std::uint8_t* above = nothing.data();
    const auto* in = reinterpret_cast<const std::uint8_t*>(rows_.data());
    for (std::size_t y = 0; y < shape.height; ++y, above = pixels, pixels += width, in += width + 1) {
      undo(in[0], {in + 1, width}, above, pixels);
    }
  }

 private:
  // A loop for each filter, so that the compiler makes what it can of every one.
  static void undo(int filter, std::span<const std::uint8_t> in, const std::uint8_t* above, std::uint8_t* out) {
    int left = 0, up_left = 0;
    const std::size_t width = in.size();
    switch (filter) {
      case 0:
        std::ranges::copy(in, out);
        return;
      case 1:
        for (std::size_t x = 0; x < width; ++x) left = out[x] = static_cast<std::uint8_t>(in[x] + left);
        return;
      case 2:
        for (std::size_t x = 0; x < width; ++x) out[x] = static_cast<std::uint8_t>(in[x] + above[x]);
        return;
      case 3:
        for (std::size_t x = 0; x < width; ++x) {
          left = out[x] = static_cast<std::uint8_t>(in[x] + (left + above[x]) / 2);
        }
        return;
      default:
        for (std::size_t x = 0; x < width; ++x) {
          const int up = above[x];
          const int to_left = std::abs(up - up_left), to_up = std::abs(left - up_left);
          const int to_both = std::abs(left + up - 2 * up_left);
          const int predicted = to_left <= to_up && to_left <= to_both ? left : to_up <= to_both ? up : up_left;
          left = out[x] = static_cast<std::uint8_t>(in[x] + predicted);
          up_left = up;
        }
    }
  }
  struct Free {
    void operator()(libdeflate_decompressor* state) const { libdeflate_free_decompressor(state); }
  };
  std::unique_ptr<libdeflate_decompressor, Free> state_{libdeflate_alloc_decompressor()};
  Bytes packed_, rows_;
};

void decode_spng(const Bytes& file, data::Image& out) {
  spng_ctx* context = spng_ctx_new(0);
  spng_set_png_buffer(context, file.data(), file.size());
  if (spng_decode_image(context, out.bytes().data(), out.bytes().size(), SPNG_FMT_PNG, 0) != 0) std::abort();
  spng_ctx_free(context);
}

struct Reader {
  const Bytes& file;
  std::size_t at = 0;
};

void decode_libpng(const Bytes& file, data::Image& out) {
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  Reader reader{file};
  png_set_read_fn(png, &reader, [](png_structp state, png_bytep to, std::size_t size) {
    auto* const from = static_cast<Reader*>(png_get_io_ptr(state));
    std::copy_n(reinterpret_cast<const png_byte*>(from->file.data()) + from->at, size, to);
    from->at += size;
  });
  png_read_info(png, info);
  const std::size_t width = out.layout().row_bytes();
  auto* const pixels = out.samples<std::uint8_t>().data();
  for (std::int64_t y = 0; y < out.height_px(); ++y) {
    png_read_row(png, pixels + static_cast<std::size_t>(y) * width, nullptr);
  }
  png_read_end(png, nullptr);
  png_destroy_read_struct(&png, &info, nullptr);
}

// Is it 8-bit gray, and not of the re-encoded ones?
bool is_wanted(const Bytes& file) {
  const auto shape = data::stream_shape(file);
  if (!shape || shape->channels != 1 || shape->bits != 8) return false;
  Bytes packed;
  gather(file, packed);
  std::vector<std::uint8_t> rows(shape->height * (shape->width + 1));
  libdeflate_decompressor* state = libdeflate_alloc_decompressor();
  const auto result =
      libdeflate_zlib_decompress(state, packed.data(), packed.size(), rows.data(), rows.size(), nullptr);
  libdeflate_free_decompressor(state);
  if (result != LIBDEFLATE_SUCCESS) return false;
  for (std::size_t y = 0; y < shape->height; ++y) {
    if (rows[y * (shape->width + 1)] != 1) return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  std::vector<Bytes> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    Bytes bytes = read_file(entry.path());
    if (is_wanted(bytes)) files.push_back(std::move(bytes));
  }
  data::Preprocess preprocess = data::preset("xray");
  preprocess.size_px = argc > 3 ? std::atoi(argv[3]) : 224;
  std::vector<std::byte> slot(data::slot_bytes(preprocess, DType::F32));
  data::Transformer transformer;
  data::Decoder decoder;
  Deflate deflate;
  const std::vector<std::pair<std::string, std::function<void(const Bytes&, data::Image&)>>> decoders{
      {"roentgen",
       [&](const Bytes& file, data::Image& out) {
         if (!decoder.decode(file, "file", {.channels = data::Channels::Gray, .limits = {}}, out)) std::abort();
       }},
      {"libpng", decode_libpng},
      {"libspng", decode_spng},
      {"libdeflate", [&](const Bytes& file, data::Image& out) { deflate.decode(file, out); }}};
  std::vector<data::Image> images(decoders.size());
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> decode_s(decoders.size(), 0.0);
    double resize_s = 0.0;
    for (const Bytes& file : files) {
      const auto shape = *data::stream_shape(file);
      for (std::size_t i = 0; i < decoders.size(); ++i) {
        images[i].reset(
            {.width_px = static_cast<std::int64_t>(shape.width), .height_px = static_cast<std::int64_t>(shape.height)});
        const auto begin = Clock::now();
        decoders[i].second(file, images[i]);
        const auto decoded = Clock::now();
        transformer.apply(images[i], preprocess, nullptr, {.bytes = slot, .dtype = DType::F32});
        resize_s += std::chrono::duration<double>(Clock::now() - decoded).count();
        decode_s[i] += std::chrono::duration<double>(decoded - begin).count();
        if (!std::ranges::equal(images[i].bytes(), images[0].bytes())) {
          fmt::print(stderr, "{} gives other pixels than {}\n", decoders[i].first, decoders[0].first);
          return 1;
        }
      }
    }
    const double n = static_cast<double>(files.size());
    resize_s /= static_cast<double>(decoders.size());
    fmt::print("{{\"images\": {}, \"resize_ms\": {:.3f}", files.size(), 1e3 * resize_s / n);
    for (std::size_t i = 0; i < decoders.size(); ++i) {
      fmt::print(", \"{}_ms\": {:.3f}", decoders[i].first, 1e3 * (decode_s[i] + resize_s) / n);
    }
    fmt::print("}}\n");
    std::fflush(stdout);
  }
  return 0;
}
