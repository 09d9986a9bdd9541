// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// JPEG codec with TurboJPEG: baseline, progressive and arithmetic coding, 8 bits, gray or colour. Uses libjpeg's
// defaults, the accurate integer DCT and smooth ("fancy") chroma upsampling, so pixels equal Pillow's. Refuses CMYK and
// 12 bits. Problems that libjpeg only warns about (data that end early, bad Huffman codes) are errors here.
#include <turbojpeg.h>

#include <algorithm>
#include <array>
#include <vector>

#include "core/unique_handle.h"
#include "data/codec/codec_table.h"
#include "data/codec/jpeg_baseline.h"
#include "data/codec/jpeg_luma.h"

namespace roentgen::data {
namespace {

using Bytes = std::span<const std::byte>;
using Handle = UniqueHandle<void, tjDestroy>;

constexpr std::string_view kThing = "data.jpeg";
constexpr std::string_view kRemedy = "fetching the file again";

// Warning about bytes between the last pixel and the end marker. All pixels were then decoded without an earlier
// warning, unless restart markers are missing (has_all_restarts()).
constexpr std::string_view kStrayAtEnd = "extraneous bytes before marker 0xd9";

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
  if (!handle)
    return failure(kThing, what, "enough memory for a JPEG decoder", "too little", "a smaller train.workers");
  int subsampling = 0;
  // TurboJPEG also returns an error for warnings, and for a chroma sampling that it can decode but has no name for. So
  // the header fields are checked, not the return code.
  static_cast<void>(tjDecompressHeader3(handle.get(), data_of(bytes), bytes.size(), &header.width_px, &header.height_px,
                                        &subsampling, &header.colour_space));
  if (header.width_px < 1 || header.height_px < 1 || header.colour_space < 0) {
    return failure(kThing, what, "a complete 8-bit JPEG image", tjGetErrorStr2(handle.get()), kRemedy);
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

/// Corrects fields that libjpeg warns about but then reads as 1: the version of a JFIF segment, and Adobe's transform
/// code with three colours. `segment` begins with its marker.
void mend_segment(std::span<std::byte> segment) {
  const auto is = [&](std::byte marker, std::string_view name, std::size_t least_bytes) {
    return segment[1] == marker && segment.size() >= least_bytes &&
           std::ranges::equal(segment.subspan(4, name.size()), std::as_bytes(std::span(name)));
  };
  if (is(std::byte{0xE0}, std::string_view("JFIF\0", 5), 18)) segment[9] = std::byte{1};
  if (is(std::byte{0xEE}, "Adobe", 16) && segment[15] > std::byte{1}) segment[15] = std::byte{1};
}

/// Returns a copy of the file without harmless flaws before its first scan: drops stray bytes between segments and
/// repairs segments. TurboJPEG reports only its first warning, so after this any warning means damage.
std::vector<std::byte> mended_header(Bytes file) {
  std::vector<std::byte> out(file.begin(), file.begin() + 2);
  std::size_t at = 2;
  const auto append = [&](std::size_t end) { out.insert(out.end(), file.begin() + at, file.begin() + end); };
  while (true) {
    // A marker is FF and a byte other than FF (a fill byte) and 0.
    while (at + 1 < file.size() &&
           (file[at] != std::byte{0xFF} || file[at + 1] == std::byte{0xFF} || file[at + 1] == std::byte{0})) {
      ++at;
    }
    if (at + 4 > file.size()) break;
    const int marker = std::to_integer<int>(file[at + 1]);
    const bool is_alone = marker == 0x01 || (marker >= 0xD0 && marker <= 0xD7);
    const bool is_last = marker == 0xD8 || marker == 0xD9 || marker == 0xDA;
    const std::size_t length =
        is_alone ? 0 : std::to_integer<std::size_t>(file[at + 2]) * 256 + std::to_integer<std::size_t>(file[at + 3]);
    const std::size_t end = at + 2 + length;
    if (is_last || end > file.size() || (length < 2 && !is_alone)) break;
    const std::size_t begin = out.size();
    append(end);
    mend_segment(std::span(out).subspan(begin));
    at = end;
  }
  append(file.size());
  return out;
}

// False for a baseline file that ends before its last restart marker. libjpeg then warns of stray bytes and fills in
// the remaining picture.
bool has_all_restarts(Bytes file) {
  constexpr std::int64_t kSide_px = 8;
  const auto jpeg = read_baseline_jpeg(file);
  if (!jpeg || jpeg->restart_units == 0) return true;
  std::int64_t columns = 1, rows = 1;
  for (const BaselineJpeg::Component& component : jpeg->components) {
    if (jpeg->components.size() == 1) break;  // with one component, a unit is one block
    columns = std::max<std::int64_t>(columns, component.columns);
    rows = std::max<std::int64_t>(rows, component.rows);
  }
  const auto units_of = [](std::int64_t pixels, std::int64_t unit) { return (pixels + unit - 1) / unit; };
  const std::int64_t units = units_of(jpeg->width_px, kSide_px * columns) * units_of(jpeg->height_px, kSide_px * rows);
  std::int64_t markers = 0;
  for (std::size_t i = 0; i + 1 < jpeg->scan.size(); ++i) {
    const int second = std::to_integer<int>(jpeg->scan[i + 1]);
    if (jpeg->scan[i] != std::byte{0xFF} || second == 0 || second == 0xFF) continue;
    if (second < 0xD0 || second > 0xD7) break;
    ++markers;
  }
  return markers >= (units - 1) / jpeg->restart_units;
}

// Decompresses an image. Returns 0, or -1 and stores the reason in the handle.
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
  Bytes bytes = job.bytes;
  std::vector<std::byte> mended;
  int error = decompress(turbo, bytes, out, TJFLAG_STOPONWARNING);
  if (error != 0) {
    mended = mended_header(bytes);
    if (!std::ranges::equal(mended, bytes)) {
      bytes = mended;
      error = decompress(turbo, bytes, out, TJFLAG_STOPONWARNING);
    }
  }
  const auto is_stray_at_end = [&] { return std::string_view(tjGetErrorStr2(turbo)).ends_with(kStrayAtEnd); };
  if (error != 0 && is_stray_at_end()) {
    if (!has_all_restarts(bytes)) {
      return failure(kThing, job.what, "a complete JPEG image",
                     "data that end too early, before the last restart marker", kRemedy);
    }
    error = decompress(turbo, bytes, out, 0);
  }
  if (error != 0 && !is_stray_at_end()) {
    return failure(kThing, job.what, "a complete JPEG image", tjGetErrorStr2(turbo), kRemedy);
  }
  return Done{};
}

// Decodes at reduced size, with our own decoder if it accepts the file. libjpeg produces the same pixels for all other
// files, and reports errors.
Status decode_reduced(const DecodeJob& job, const ImageLayout& layout, const ImageNeed& need, Image& out) {
  const bool has_luma = job.info.colour == "gray" || job.info.colour == "ycbcr";
  if (layout.channels == 1 && has_luma && decode_reduced_luma(job.bytes, need, job.scratch, out)) return Done{};
  const tjscalingfactor factor{1, need.reduction};
  ImageLayout reduced = layout;
  reduced.width_px = TJSCALED(static_cast<int>(layout.width_px), factor);
  reduced.height_px = TJSCALED(static_cast<int>(layout.height_px), factor);
  out.reset(reduced,
            {.reduction = need.reduction, .picture_width_px = layout.width_px, .picture_height_px = layout.height_px});
  return decode(job, out);
}

}  // namespace

const Codec& codec_jpeg() {
  static constexpr Codec kCodec{"jpeg", "JPEG", probe, read_info, decode, decode_reduced};
  return kCodec;
}

}  // namespace roentgen::data
