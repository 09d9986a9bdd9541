// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Codec: an entry of the codec table. Only codecs and codec.cpp include this.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "core/result.h"
#include "data/codec/codec.h"
#include "data/codec/codec_list.h"

namespace roentgen::data {

/// One file to decode.
struct DecodeJob {
  std::span<const std::byte> bytes;
  std::string_view what;
  /// Result of the codec's own read_info(), within the limits.
  const ImageInfo& info;
  const DecodeOptions& options;
  DecodeScratch& scratch;
};

/// The functions of one format. They never throw because of the bytes, and hold no state.
struct Codec {
  std::string_view name;
  /// Name of the format in messages.
  std::string_view title;
  /// Do the bytes begin like this format?
  bool (*probe)(std::span<const std::byte> bytes);
  /// Reads the header and takes no pixel memory.
  Result<ImageInfo> (*read_info)(std::span<const std::byte> bytes, std::string_view what);
  /// Decodes into `out`, which has the size of info, 1 or 3 channels, and bits and max_value from container_of(info). A
  /// codec whose levels depend on the options sets other bits and max_value, within the limits.
  Status (*decode)(const DecodeJob& job, Image& out);
  /// Decodes at a reduction of 2, 4 or 8 at least the part `need` of the picture, and sets the layout of `out`.
  /// `layout` is that of the whole picture. Null: the format has no reduced decode.
  Status (*decode_reduced)(const DecodeJob& job, const ImageLayout& layout, const ImageNeed& need,
                           Image& out) = nullptr;
};

/// Bits of the container that holds info.bits: 8 or 16.
[[nodiscard]] constexpr int container_of(const ImageInfo& info) { return info.bits <= 8 ? 8 : 16; }

#define RG_DECLARE_CODEC(name, title) [[nodiscard]] const Codec& codec_##name();
RG_CODECS(RG_DECLARE_CODEC)
#undef RG_DECLARE_CODEC

}  // namespace roentgen::data
