// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Decodes all kinds of JPEG except baseline, and JPEG-LS, with DCMTK's decoders. Those also accept damaged streams, so
// this code checks streams before and after. Baseline streams are only checked here. Only the files of this folder
// include it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "data/codec/dicom/file.h"

namespace roentgen::data {

/// Checks an 8-bit stream for our own JPEG codec, which accepts surplus bytes before the end marker, as viewers do.
/// Failure: another size than the header's, data that do not end with the last pixel, or no end marker.
[[nodiscard]] Status check_baseline_jpeg(std::span<const std::byte> stream, std::string_view what,
                                         const DicomHeader& header);

/// Decodes JPEG extended or lossless into the codes of its image; lowers `header` to the stream's precision if that is
/// less. Failure: damage that the decoder noticed (its warnings included), another size than the header's, or a
/// lossless sample that needs more bits than Bits Stored.
[[nodiscard]] Status decode_jpeg(std::span<const std::byte> stream, std::string_view what, DicomHeader& header,
                                 std::span<std::uint16_t> codes);

/// Decodes JPEG-LS into the codes of its image. Failure: as decode_jpeg().
[[nodiscard]] Status decode_jpeg_ls(std::span<const std::byte> stream, std::string_view what, const DicomHeader& header,
                                    std::span<std::uint16_t> codes);

}  // namespace roentgen::data
