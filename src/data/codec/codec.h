// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Decodes the bytes of an image file to an Image. The format is detected from the bytes (codec_list.h), never from the
// name. Bad bytes are expected: every failure is a one-line Result, and nothing here throws because of a file.
//
// Rules shared by all codecs:
//   gray           8- and 16-bit samples as they are; 1, 2 and 4 bits widened to the full range of 8 (x255, x85, x17).
//   alpha, tRNS    dropped, as Pillow's convert("L") and convert("RGB") do: colours are not premultiplied.
//   palette        expanded to its colours.
//   gamma, ICC, sBIT, EXIF orientation: ignored, as Pillow, torchvision and TensorFlow do when they load a file.
//   colour -> gray ITU-R 601 luma with Pillow's rounding, (19595 R + 38470 G + 7471 B + 32768) >> 16, which is R where
//                  R = G = B. A JPEG in YCbCr gives its Y, which is that luma (before JPEG's rounding of R, G, B).
//   gray -> colour three times the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"
#include "data/codec/intensity.h"
#include "data/image.h"

namespace roentgen::data {

/// Facts that a file's header gives.
struct ImageInfo {
  /// Name from codec_list.h: "png", "jpeg", "dicom".
  std::string_view format;
  /// "gray", "gray+alpha", "palette", "rgb", "rgba", "ycbcr", "cmyk".
  std::string_view colour;
  std::int64_t width_px = 0;   ///< columns
  std::int64_t height_px = 0;  ///< rows
  /// Channels without alpha: 1, or 3 for colour and palette.
  int channels = 1;
  /// Bits of one sample as stored, 1 to 16; 8 for a palette's colours.
  int bits = 8;
};

/// Refused before any pixel memory is taken.
struct DecodeLimits {
  /// Width times height.
  std::int64_t max_pixels = std::int64_t{1} << 28;
  /// Bytes of the decoded Image.
  std::size_t max_bytes = std::size_t{1} << 30;
};

/// Channels of the decoded Image. FromFile: 1 for gray files, 3 for colour (also where R = G = B).
enum class Channels : std::uint8_t { FromFile = 0, Gray = 1, Rgb = 3 };

/// Part of a picture that the caller needs; a codec may decode only this part.
struct ImageNeed {
  /// Reduction factor 1, 2, 4 or 8: each pixel is the mean of reduction x reduction pixels (ImagePart).
  int reduction = 1;
  /// In such pixels.
  std::int64_t left = 0;
  std::int64_t top = 0;        ///< pixels from the picture's upper edge
  std::int64_t width_px = 0;   ///< columns
  std::int64_t height_px = 0;  ///< rows
};

/// Options of decoding.
struct DecodeOptions {
  Channels channels = Channels::FromFile;  ///< channels of the decoded image
  DecodeLimits limits;                     ///< limits beyond which it is refused
  /// Conversion of a DICOM file's stored values to gray levels; other formats ignore it.
  Intensity intensity = Intensity::Stored;
  /// Whether uncompressed pixels may be borrowed from the file (Image::borrow) instead of copied.
  bool may_borrow = false;
  /// Chooses the part to decode. Called at most once, with the layout of the whole picture, if the format can decode at
  /// a reduced size. The Image then has at least that part at that reduction (Image::part). Unset: the whole picture.
  std::function<ImageNeed(const ImageLayout&)> need{};
};

/// Reads the header. `what` names the file in messages. Failure: empty, no known format, broken header, beyond limits.
[[nodiscard]] Result<ImageInfo> read_info(std::span<const std::byte> bytes, std::string_view what,
                                          const DecodeLimits& limits = {});

/// Memory that codecs keep from file to file, each grown when it must; the contents mean nothing between files.
struct DecodeScratch {
  /// Pixels with the channels of the file, when the caller asked for others.
  runtime::AlignedBuffer pixels;
  runtime::AlignedBuffer packed;    ///< PNG: data chunks joined
  runtime::AlignedBuffer filtered;  ///< PNG: rows from inflate, still filtered
  runtime::AlignedBuffer lanes;     ///< PNG: rows in SIMD lanes
  /// DICOM: samples as the file stores them.
  runtime::AlignedBuffer stored;
};

/// Returns `bytes` of a buffer, which is reallocated when it is smaller.
[[nodiscard]] std::span<std::byte> grown(runtime::AlignedBuffer& buffer, std::size_t bytes);

/// Decodes files one after the other; keeps what codecs can use again. One per worker: thread-compatible.
class Decoder {
 public:
  /// Decodes a whole file into `out` (whose memory is reused). Failure: as read_info(), or damaged or short data; then
  /// the pixels of `out` are undefined.
  [[nodiscard]] Status decode(std::span<const std::byte> bytes, std::string_view what, const DecodeOptions& options,
                              Image& out);

 private:
  DecodeScratch scratch_;
};

/// Names of the codecs in probe order, joined: "PNG or JPEG".
[[nodiscard]] std::string codec_names();

}  // namespace roentgen::data
