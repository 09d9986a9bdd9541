// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Decodes the bytes of an image file to an Image. The format is detected from the bytes (codec_list.h), never from the
// file name. Damaged files are expected: every failure is returned as a Result with a one-line text. No function throws
// because of a file's content.
//
// Rules shared by all codecs:
//   gray           8- and 16-bit samples are unchanged; 1, 2 and 4 bits are scaled to 8 bits (x255, x85, x17).
//   alpha, tRNS    dropped, as Pillow's convert("L") and convert("RGB") do: colours are not premultiplied.
//   palette        expanded to its colours.
//   gamma, ICC, sBIT, EXIF orientation: ignored, as Pillow, torchvision and TensorFlow do when they load a file.
//   colour -> gray ITU-R 601 luma with Pillow's rounding, (19595 R + 38470 G + 7471 B + 32768) >> 16, which is R where
//                  R = G = B. A JPEG in YCbCr gives its Y channel, which is that luma before JPEG rounds R, G and B.
//   gray -> colour the gray value in all three channels.
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

/// Properties of an image that its file's header states.
struct ImageInfo {
  /// Name of the format in codec_list.h, such as "png", "jpeg" or "dicom".
  std::string_view format;
  /// Colour type: "gray", "gray+alpha", "palette", "rgb", "rgba", "ycbcr" or "cmyk".
  std::string_view colour;
  std::int64_t width_px = 0;   ///< columns
  std::int64_t height_px = 0;  ///< rows
  /// Number of channels without alpha: 1 for gray, 3 for colour and palette.
  int channels = 1;
  /// Bits of one sample as stored, 1 to 16; 8 for palette images.
  int bits = 8;
};

/// Limits on the decoded image. Larger images are refused before memory for pixels is allocated.
struct DecodeLimits {
  /// Largest width times height.
  std::int64_t max_pixels = std::int64_t{1} << 28;
  /// Largest size of the decoded Image in bytes.
  std::size_t max_bytes = std::size_t{1} << 30;
};

/// Channels of the decoded Image. FromFile: 1 for gray files, 3 for colour files (even if R = G = B).
enum class Channels : std::uint8_t { FromFile = 0, Gray = 1, Rgb = 3 };

/// Part of a picture that the caller needs. A codec may decode only this part.
struct ImageNeed {
  /// Reduction factor 1, 2, 4 or 8: each pixel is the mean of reduction x reduction pixels (ImagePart).
  int reduction = 1;
  /// Left edge of the part, in reduced pixels from the picture's left edge.
  std::int64_t left = 0;
  std::int64_t top = 0;        ///< reduced pixels from the picture's upper edge
  std::int64_t width_px = 0;   ///< columns, in reduced pixels
  std::int64_t height_px = 0;  ///< rows, in reduced pixels
};

/// Settings of Decoder::decode().
struct DecodeOptions {
  Channels channels = Channels::FromFile;  ///< channels of the decoded image
  DecodeLimits limits;                     ///< limits beyond which the image is refused
  /// How stored values of a DICOM file become gray levels. Other formats ignore it.
  Intensity intensity = Intensity::Stored;
  /// True if the Image may refer to uncompressed pixels in the file's bytes (Image::borrow) instead of copying them.
  bool may_borrow = false;
  /// Chooses the part of the picture to decode. Called at most once, with the layout of the whole picture, if the
  /// format can decode at a reduced size. The decoded Image contains at least that part, at that reduction
  /// (Image::part). If unset, the whole picture is decoded.
  std::function<ImageNeed(const ImageLayout&)> need{};
};

/// Reads the header. `what` names the file in messages. Fails if the file is empty, has an unknown format or a broken
/// header, or exceeds the limits.
[[nodiscard]] Result<ImageInfo> read_info(std::span<const std::byte> bytes, std::string_view what,
                                          const DecodeLimits& limits = {});

/// Buffers that codecs reuse from file to file. They grow as needed; their contents are meaningless between files.
struct DecodeScratch {
  /// Pixels with the file's channels, used if the caller requested another number of channels.
  runtime::AlignedBuffer pixels;
  runtime::AlignedBuffer packed;    ///< PNG: joined data chunks
  runtime::AlignedBuffer filtered;  ///< PNG: inflated rows, still filtered
  runtime::AlignedBuffer lanes;     ///< PNG: rows interleaved for SIMD lanes
  /// DICOM: samples as the file stores them.
  runtime::AlignedBuffer stored;
};

/// Returns the first `bytes` bytes of a buffer. Reallocates the buffer if it is smaller.
[[nodiscard]] std::span<std::byte> grown(runtime::AlignedBuffer& buffer, std::size_t bytes);

/// Decodes files one after another and reuses memory. Thread-compatible: each worker has its own.
class Decoder {
 public:
  /// Decodes a whole file into `out`, whose memory is reused. Fails as read_info() does, or if data are damaged or
  /// missing. After a failure the pixels of `out` are undefined.
  [[nodiscard]] Status decode(std::span<const std::byte> bytes, std::string_view what, const DecodeOptions& options,
                              Image& out);

 private:
  DecodeScratch scratch_;
};

/// Names of the codecs in probe order, joined: "PNG or JPEG".
[[nodiscard]] std::string codec_names();

}  // namespace roentgen::data
