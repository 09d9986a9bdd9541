// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// JPEG by TurboJPEG: baseline, progressive and arithmetic, 8 bits, gray or colour. The accurate integer DCT and smooth
// ("fancy") chroma upsampling, libjpeg's defaults, so the pixels are Pillow's. CMYK and 12 bits are refused. What
// libjpeg merely warns about (data that ends early, bad Huffman codes) is a damaged picture here.
#include <turbojpeg.h>

#include <algorithm>
#include <array>

#include "core/unique_handle.h"
#include "data/codec/codec_table.h"

namespace roentgen::data {
namespace {

using Bytes = std::span<const std::byte>;
using Handle = UniqueHandle<void, tjDestroy>;

constexpr std::string_view kThing = "data.jpeg";
constexpr std::string_view kRemedy = "fetching the file again";

// Warnings that leave the pixels alone: stray bytes between segments, unknown versions of optional headers.
constexpr std::array<std::string_view, 3> kHarmless{"extraneous bytes before marker", "unknown JFIF revision",
                                                    "Unknown Adobe color transform"};

bool probe(Bytes bytes) {
  return bytes.size() >= 3 && bytes[0] == std::byte{0xFF} && bytes[1] == std::byte{0xD8} && bytes[2] == std::byte{0xFF};
}

const unsigned char* data_of(Bytes bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }

struct Header {
  int width_px = 0;
  int height_px = 0;
  int colour_space = -1;
};

Result<Handle> open(Bytes bytes, std::string_view what, Header& header) {
  Handle handle(tjInitDecompress());
  if (!handle) return failure(kThing, what, "memory for a decoder", "none", "fewer train.workers");
  int subsampling = 0;
  // TurboJPEG calls it an error when it merely warned, or when chroma is sampled in a way it has no name for, which it
  // decodes all the same. What it could read tells.
  static_cast<void>(tjDecompressHeader3(handle.get(), data_of(bytes), bytes.size(), &header.width_px, &header.height_px,
                                        &subsampling, &header.colour_space));
  if (header.width_px < 1 || header.height_px < 1 || header.colour_space < 0) {
    return failure(kThing, what, "a whole JPEG image of 8 bits", tjGetErrorStr2(handle.get()), kRemedy);
  }
  return handle;
}

Result<ImageInfo> read_info(Bytes bytes, std::string_view what) {
  Header header;
  const Result<Handle> handle = open(bytes, what, header);
  if (!handle) return handle.why();
  static constexpr std::array<std::string_view, 5> kColours{"rgb", "ycbcr", "gray", "cmyk", "ycck"};
  ImageInfo info{.format = "jpeg", .width_px = header.width_px, .height_px = header.height_px};
  info.colour = kColours.at(static_cast<std::size_t>(header.colour_space));
  info.channels = header.colour_space == TJCS_GRAY ? 1 : 3;
  if (header.colour_space == TJCS_CMYK || header.colour_space == TJCS_YCCK) {
    return failure(kThing, what, "a gray or RGB image", "CMYK", "converting it to RGB");
  }
  return info;
}

bool is_harmless(std::string_view warning) {
  return std::ranges::any_of(kHarmless, [&](std::string_view text) { return warning.find(text) != warning.npos; });
}

// 0, or -1 with the reason in the handle.
int decompress(tjhandle handle, Bytes bytes, Image& out, int flags) {
  const int format = out.channels() == 1 ? TJPF_GRAY : TJPF_RGB;
  return tjDecompress2(handle, data_of(bytes), bytes.size(), reinterpret_cast<unsigned char*>(out.bytes().data()),
                       static_cast<int>(out.width_px()), static_cast<int>(out.layout().row_bytes()),
                       static_cast<int>(out.height_px()), format, flags | TJFLAG_LIMITSCANS);
}

Status decode(const DecodeJob& job, Image& out) {
  Header header;
  const Result<Handle> handle = open(job.bytes, job.what, header);
  if (!handle) return handle.why();
  tjhandle turbo = handle.value().get();
  int error = decompress(turbo, job.bytes, out, TJFLAG_STOPONWARNING);
  // Stopped at a harmless warning: once more, and look at the last one.
  if (error != 0 && is_harmless(tjGetErrorStr2(turbo))) error = decompress(turbo, job.bytes, out, 0);
  if (error != 0 && !is_harmless(tjGetErrorStr2(turbo))) {
    return failure(kThing, job.what, "a whole JPEG image", tjGetErrorStr2(turbo), kRemedy);
  }
  return Done{};
}

}  // namespace

const Codec& codec_jpeg() {
  static constexpr Codec kCodec{"jpeg", "JPEG", probe, read_info, decode};
  return kCodec;
}

}  // namespace roentgen::data
