// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// DICOM's run-length coding (PS3.5 annex G). DCMTK's decoder returns wrong pixels after a no-op byte and accepts
// segments that end early. Only the files of this folder include it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/result.h"

namespace roentgen::data {

/// Length of the header at the start of an RLE frame.
inline constexpr std::size_t kRleHeader_bytes = 64;

/// True if `fragment` begins with the header of an RLE frame.
[[nodiscard]] bool begins_rle_frame(std::span<const std::byte> fragment);

/// Decodes one gray frame of `bytes_per_sample` (1 or 2) segments into `samples`. Fails if the number of segments
/// differs, a segment's offset lies outside the frame, or a segment does not contain one byte per sample.
[[nodiscard]] Status decode_rle(std::span<const std::byte> frame, std::string_view what, int bytes_per_sample,
                                std::span<std::uint16_t> samples);

}  // namespace roentgen::data
