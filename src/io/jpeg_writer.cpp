// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/jpeg_writer.h"

#include <turbojpeg.h>

#include <string>

#include "core/error.h"
#include "core/unique_handle.h"

namespace roentgen::io {
namespace {

constexpr std::int64_t kLimitPx = 65500;

void validate(const JpegImage& image, int quality) {
  const bool is_side = image.width_px >= 1 && image.height_px >= 1 && image.width_px <= kLimitPx &&
                       image.height_px <= kLimitPx && (image.channels == 1 || image.channels == 3);
  if (!is_side || static_cast<std::size_t>(image.width_px * image.height_px * image.channels) != image.pixels.size()) {
    throw ShapeError(error_text(
        "io.jpeg", "image to encode", "1 to 65500 px a side, 1 or 3 channels, and width x height x channels bytes",
        std::to_string(image.width_px) + "x" + std::to_string(image.height_px) + ", " + std::to_string(image.channels) +
            " channels, " + std::to_string(image.pixels.size()) + " bytes"));
  }
  if (quality < 1 || quality > 100) {
    throw ConfigError(error_text("io.jpeg", "quality", "1 to 100", std::to_string(quality)));
  }
}

}  // namespace

std::vector<std::byte> encode_jpeg(const JpegImage& image, int quality) {
  validate(image, quality);
  const UniqueHandle<void, tjDestroy> encoder(tjInitCompress());
  if (!encoder) throw DataError(error_text("io.jpeg", "TurboJPEG", "enough memory for an encoder", "too little"));
  const bool is_gray = image.channels == 1;
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  const int code = tjCompress2(encoder.get(), image.pixels.data(), static_cast<int>(image.width_px), 0,
                               static_cast<int>(image.height_px), is_gray ? TJPF_GRAY : TJPF_RGB, &buffer, &size,
                               is_gray ? TJSAMP_GRAY : TJSAMP_444, quality, TJFLAG_ACCURATEDCT);
  const UniqueHandle<unsigned char, tjFree> owner(buffer);
  if (code != 0) {
    throw DataError(error_text("io.jpeg", "TurboJPEG", "an encoded image", tjGetErrorStr2(encoder.get())));
  }
  const auto* bytes = reinterpret_cast<const std::byte*>(buffer);
  return {bytes, bytes + size};
}

}  // namespace roentgen::io
