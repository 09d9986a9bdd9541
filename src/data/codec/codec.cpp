// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Finds the codec of a file and enforces the limits. Describes unknown formats in errors.
#include "data/codec/codec.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "data/codec/codec_table.h"

namespace roentgen::data {
namespace {

using Bytes = std::span<const std::byte>;

#define RG_CODEC_ENTRY(name, title) &codec_##name,
constexpr std::array kCodecs{RG_CODECS(RG_CODEC_ENTRY)};
#undef RG_CODEC_ENTRY

bool has_text(Bytes bytes, std::size_t at, std::string_view text) {
  if (bytes.size() < at + text.size()) return false;
  return std::equal(text.begin(), text.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
                    [](char c, std::byte b) { return static_cast<unsigned char>(c) == std::to_integer<unsigned>(b); });
}

// Names file formats that users pass by mistake instead of an image.
std::string describe(Bytes bytes) {
  struct Magic {
    std::size_t at;
    std::string_view text;
    std::string_view name;
  };
  using namespace std::string_view_literals;
  static constexpr std::array kMagics{Magic{0, "GIF8"sv, "a GIF image"},
                                      Magic{0, "BM"sv, "a BMP image"},
                                      Magic{0, "II*\0"sv, "a TIFF image"},
                                      Magic{0, "MM\0*"sv, "a TIFF image"},
                                      Magic{8, "WEBP"sv, "a WebP image"},
                                      Magic{0, "\0\0\0\x0CjP  "sv, "a JPEG 2000 image"},
                                      Magic{0, "\xFF\x4F\xFF\x51"sv, "a JPEG 2000 codestream"},
                                      Magic{0, "PK\x03\x04"sv, "a ZIP archive"},
                                      Magic{0, "\x1F\x8B"sv, "gzip data"},
                                      Magic{0, "%PDF"sv, "a PDF file"},
                                      Magic{1, "PNG"sv, "a PNG image with a damaged signature"},
                                      Magic{0, "version https://git-lfs"sv, "a Git LFS pointer instead of the file"}};
  for (const Magic& magic : kMagics) {
    if (has_text(bytes, magic.at, magic.text)) return std::string(magic.name);
  }
  if (std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; })) {
    return fmt::format("{} zero bytes", bytes.size());
  }
  const Bytes head = bytes.first(std::min<std::size_t>(bytes.size(), 8));
  const bool is_text = std::ranges::all_of(head, [](std::byte b) {
    const int c = std::to_integer<int>(b);
    return std::isprint(c) != 0 || std::isspace(c) != 0;
  });
  std::string text = is_text ? "text that begins with \"" : "bytes that begin with";
  for (const std::byte b : head) {
    if (is_text) {
      text += static_cast<char>(b);
    } else {
      text += fmt::format(" {:02x}", std::to_integer<unsigned>(b));
    }
  }
  return is_text ? text + "\"" : text;
}

constexpr std::string_view kMendRemedy = "fetching the file again";
constexpr std::string_view kSizeRemedy = "a smaller copy of the image";

Result<const Codec*> find_codec(Bytes bytes, std::string_view what) {
  if (bytes.empty()) return failure("data.codec", what, "a " + codec_names() + " image", "an empty file", kMendRemedy);
  for (const auto entry : kCodecs) {
    const Codec& codec = entry();
    if (codec.probe(bytes)) return &codec;
  }
  return failure("data.codec", what, "a " + codec_names() + " image", describe(bytes),
                 "converting it to " + codec_names());
}

std::uint32_t max_value_of(const ImageInfo& info) { return container_of(info) == 8 ? 255U : 65535U; }

ImageLayout layout_of(const ImageInfo& info, Channels channels) {
  return ImageLayout{.width_px = info.width_px,
                     .height_px = info.height_px,
                     .channels = channels == Channels::FromFile ? info.channels : static_cast<int>(channels),
                     .bits = container_of(info),
                     .max_value = max_value_of(info)};
}

// Checks the limits. Sizes are below 2^32 each, so no product overflows 64 bits before the pixel limit is checked.
Status check_limits(const ImageInfo& info, Channels channels, std::string_view what, const DecodeLimits& limits) {
  const std::string thing = fmt::format("data.{}", info.format);
  if (info.width_px < 1 || info.height_px < 1) {
    return failure(thing, what, "at least 1x1 pixels", fmt::format("{}x{}", info.width_px, info.height_px),
                   kMendRemedy);
  }
  if (info.width_px > limits.max_pixels / info.height_px) {
    return failure(thing, what, fmt::format("at most {} pixels", limits.max_pixels),
                   fmt::format("{}x{}", info.width_px, info.height_px), kSizeRemedy);
  }
  const std::size_t bytes = layout_of(info, channels).bytes();
  if (bytes > limits.max_bytes) {
    return failure(thing, what, fmt::format("at most {} bytes of pixels", limits.max_bytes), std::to_string(bytes),
                   kSizeRemedy);
  }
  return Done{};
}

}  // namespace

std::span<std::byte> grown(runtime::AlignedBuffer& buffer, std::size_t bytes) {
  if (buffer.size() < bytes) buffer = runtime::AlignedBuffer(bytes);
  return buffer.bytes().first(bytes);
}

Result<ImageInfo> read_info(Bytes bytes, std::string_view what, const DecodeLimits& limits) {
  const Result<const Codec*> codec = find_codec(bytes, what);
  if (!codec) return codec.why();
  Result<ImageInfo> info = codec.value()->read_info(bytes, what);
  if (!info) return info;
  const Status within = check_limits(info.value(), Channels::FromFile, what, limits);
  if (!within) return within.why();
  return info;
}

Status Decoder::decode(Bytes bytes, std::string_view what, const DecodeOptions& options, Image& out) {
  const Result<const Codec*> codec = find_codec(bytes, what);
  if (!codec) return codec.why();
  const Result<ImageInfo> info = codec.value()->read_info(bytes, what);
  if (!info) return info.why();
  const Status within = check_limits(info.value(), options.channels, what, options.limits);
  if (!within) return within.why();
  const ImageLayout layout = layout_of(info.value(), options.channels);
  const DecodeJob job{bytes, what, info.value(), options, scratch_};
  if (options.need && codec.value()->decode_reduced != nullptr) {
    const ImageNeed need = options.need(layout);
    if (need.reduction > 1) return codec.value()->decode_reduced(job, layout, need, out);
  }
  out.reset(layout);
  return codec.value()->decode(job, out);
}

std::string codec_names() {
  std::string names;
  for (std::size_t i = 0; i < kCodecs.size(); ++i) {
    if (i > 0) names += i + 1 == kCodecs.size() ? " or " : ", ";
    names += kCodecs[i]().title;
  }
  return names;
}

}  // namespace roentgen::data
