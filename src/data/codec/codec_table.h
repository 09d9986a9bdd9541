// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Codec: the functions of one image format. Only codecs and codec.cpp include this file.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "core/result.h"
#include "data/codec/codec.h"
#include "data/codec/codec_list.h"

namespace roentgen::data {

/// A file to decode, and how to decode it.
struct DecodeJob {
  std::span<const std::byte> bytes;
  std::string_view what;
  /// Result of the codec's own read_info(). The size is within the limits.
  const ImageInfo& info;
  const DecodeOptions& options;
  DecodeScratch& scratch;
};

/// Functions of one image format. They have no state and never throw because of a file's content.
struct Codec {
  std::string_view name;
  /// Name of the format in messages.
  std::string_view title;
  /// Returns true if the bytes begin like a file of this format.
  bool (*probe)(std::span<const std::byte> bytes);
  /// Reads the header. Allocates no memory for pixels.
  Result<ImageInfo> (*read_info)(std::span<const std::byte> bytes, std::string_view what);
  /// Decodes into `out`. It already has the size from `info`, 1 or 3 channels, and bits and max_value from
  /// container_of(info). A codec whose gray levels depend on the options changes bits and max_value, within the limits.
  Status (*decode)(const DecodeJob& job, Image& out);
  /// Decodes at least the part `need` of the picture, at a reduction of 2, 4 or 8, and sets the layout of `out`.
  /// `layout` describes the whole picture. Null if the format cannot decode at a reduced size.
  Status (*decode_reduced)(const DecodeJob& job, const ImageLayout& layout, const ImageNeed& need,
                           Image& out) = nullptr;
};

/// Bits of the container for samples of info.bits bits: 8 or 16.
[[nodiscard]] constexpr int container_of(const ImageInfo& info) { return info.bits <= 8 ? 8 : 16; }

#define RG_DECLARE_CODEC(name, title) [[nodiscard]] const Codec& codec_##name();
RG_CODECS(RG_DECLARE_CODEC)
#undef RG_DECLARE_CODEC

}  // namespace roentgen::data
