// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// One worker on one core: 8-bit gray radiographs in memory to rows of a batch, by our decoder and by libraries that
// others use, each followed by our resize. image_to_batch.py builds and runs it.
//
//   image_to_batch FOLDER SIZE_PX      a folder of PNG files or of JPEG files
//
// Ways of PNG: our decoder, libpng, libspng. Ways of JPEG: at the reduced size that the input needs by our decoder and
// by libjpeg-turbo; the whole picture by libjpeg-turbo. Prints JSON, by way: milliseconds of processor time an image;
// mean and largest difference of its rows from those of our decoder, in gray levels of 255.
#include <fmt/core.h>
#include <png.h>
#include <spng.h>
#include <turbojpeg.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/unique_handle.h"
#include "data/codec/codec.h"
#include "data/transform/geometry.h"
#include "data/transform/transform.h"
#include "io/file.h"

namespace {

using namespace roentgen;
using Bytes = std::vector<std::byte>;
using Decode = std::function<void(const Bytes&, const data::Preprocess&, data::Image&)>;

void require(bool is_well) {
  if (!is_well) std::abort();
}

double processor_s() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void decode_own(const Bytes& file, const data::Preprocess& preprocess, data::Image& out) {
  static data::Decoder decoder;
  data::DecodeOptions options{.channels = data::Channels::Gray, .limits = {}};
  options.need = [&](const data::ImageLayout& picture) { return data::need_of(picture, preprocess, {}); };
  require(static_cast<bool>(decoder.decode(file, "file", options, out)));
}

void decode_spng(const Bytes& file, const data::Preprocess&, data::Image& out) {
  const UniqueHandle<spng_ctx, spng_ctx_free> context(spng_ctx_new(0));
  spng_set_png_buffer(context.get(), file.data(), file.size());
  spng_ihdr header{};
  require(spng_get_ihdr(context.get(), &header) == 0);
  out.reset({.width_px = header.width, .height_px = header.height});
  require(spng_decode_image(context.get(), out.bytes().data(), out.bytes().size(), SPNG_FMT_PNG, 0) == 0);
}

void decode_libpng(const Bytes& file, const data::Preprocess&, data::Image& out) {
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  const std::byte* next = file.data();
  png_set_read_fn(png, static_cast<void*>(&next), [](png_structp state, png_bytep to, std::size_t size) {
    auto* const from = static_cast<const std::byte**>(png_get_io_ptr(state));
    std::copy_n(reinterpret_cast<const png_byte*>(*from), size, to);
    *from += size;
  });
  png_read_info(png, info);
  out.reset({.width_px = png_get_image_width(png, info), .height_px = png_get_image_height(png, info)});
  png_byte* row = out.samples<std::uint8_t>().data();
  for (std::int64_t y = 0; y < out.height_px(); ++y, row += out.layout().row_bytes()) png_read_row(png, row, nullptr);
  png_read_end(png, nullptr);
  png_destroy_read_struct(&png, &info, nullptr);
}

// Decodes the whole picture at the reduced size that the input needs.
void decode_turbo(const Bytes& file, const data::Preprocess& preprocess, data::Image& out) {
  static const std::unique_ptr<void, int (*)(void*)> turbo(tjInitDecompress(), tjDestroy);
  const auto* bytes = reinterpret_cast<const unsigned char*>(file.data());
  int width = 0, height = 0, subsampling = 0, colours = 0;
  require(tjDecompressHeader3(turbo.get(), bytes, file.size(), &width, &height, &subsampling, &colours) == 0);
  data::ImageLayout layout{.width_px = width, .height_px = height};
  const int reduction = data::need_of(layout, preprocess, {}).reduction;
  const tjscalingfactor factor{1, reduction};
  layout.width_px = TJSCALED(width, factor);
  layout.height_px = TJSCALED(height, factor);
  out.reset(layout, {.reduction = reduction, .picture_width_px = width, .picture_height_px = height});
  require(tjDecompress2(turbo.get(), bytes, file.size(), reinterpret_cast<unsigned char*>(out.bytes().data()),
                        static_cast<int>(layout.width_px), static_cast<int>(layout.row_bytes()),
                        static_cast<int>(layout.height_px), TJPF_GRAY, 0) == 0);
}

// One way of converting files to batch rows.
struct Way {
  std::string name;
  Decode decode;
  data::Preprocess preprocess;
  data::Image image{};
  data::Transformer transformer{};
  std::vector<float> row{};
  double seconds = 0.0, mean = 0.0, largest = 0.0;

  void run(const Bytes& file) {
    row.resize(data::slot_bytes(preprocess, DType::F32) / sizeof(float));
    const double begin = processor_s();
    decode(file, preprocess, image);
    transformer.apply(image, preprocess, nullptr, {std::as_writable_bytes(std::span(row)), DType::F32});
    seconds += processor_s() - begin;
  }

  void compare(const std::vector<float>& reference) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const double difference = 255.0 * std::abs(static_cast<double>(row[i]) - static_cast<double>(reference[i]));
      mean += difference / static_cast<double>(row.size());
      largest = std::max(largest, difference);
    }
  }
};

std::vector<Way> ways_of(const std::filesystem::path& file, std::int64_t size_px) {
  data::Preprocess scaled = data::preset("unit");
  scaled.size_px = size_px;
  scaled.jpeg = data::JpegSize::Scaled;
  data::Preprocess exact = scaled;
  exact.jpeg = data::JpegSize::Exact;
  std::vector<Way> ways;
  ways.push_back({.name = "roentgen", .decode = decode_own, .preprocess = scaled});
  if (file.extension() == ".png") {
    ways.push_back({.name = "libpng", .decode = decode_libpng, .preprocess = scaled});
    ways.push_back({.name = "libspng", .decode = decode_spng, .preprocess = scaled});
  } else {
    ways.push_back({.name = "libjpeg-turbo", .decode = decode_turbo, .preprocess = scaled});
    ways.push_back({.name = "libjpeg-turbo, whole", .decode = decode_own, .preprocess = exact});
  }
  return ways;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) paths.push_back(entry.path());
  if (paths.empty()) return 2;
  std::vector<Way> ways = ways_of(paths[0], std::atoi(argv[2]));
  for (const auto& path : paths) {
    const Bytes file = io::read_file(path).value();
    for (Way& way : ways) {
      way.run(file);
      way.compare(ways[0].row);
    }
  }
  const double n = static_cast<double>(paths.size());
  for (const Way& way : ways) {
    fmt::print(R"({}"{}": {{"ms": {:.4f}, "mean_levels": {:.4f}, "largest_levels": {:.2f}}})",
               &way == ways.data() ? "{" : ", ", way.name, 1e3 * way.seconds / n, way.mean / n, way.largest);
  }
  fmt::print("}}\n");
  return 0;
}
