// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Decodes all kinds of JPEG except baseline, and JPEG-LS, with DCMTK's decoders. DCMTK also accepts damaged streams, so
// this code checks them before and after decoding. Baseline streams are only checked here. Only the files of this
// folder include it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "data/codec/dicom/file.h"

namespace roentgen::data {

/// Checks an 8-bit stream before our own JPEG codec decodes it. That codec ignores surplus bytes before the end marker,
/// as viewers do. Fails if the size differs from the header's, the data do not end with the last pixel, or the end
/// marker is missing.
[[nodiscard]] Status check_baseline_jpeg(std::span<const std::byte> stream, std::string_view what,
                                         const DicomHeader& header);

/// Decodes JPEG extended or lossless into the codes of its image. Lowers bits_stored in `header` to the stream's
/// precision if the precision is smaller. Fails if the decoder reports damage (warnings included), if the size differs
/// from the header's, or if a lossless sample exceeds Bits Stored.
[[nodiscard]] Status decode_jpeg(std::span<const std::byte> stream, std::string_view what, DicomHeader& header,
                                 std::span<std::uint16_t> codes);

/// Decodes JPEG-LS into the codes of its image. Fails as decode_jpeg() does.
[[nodiscard]] Status decode_jpeg_ls(std::span<const std::byte> stream, std::string_view what, const DicomHeader& header,
                                    std::span<std::uint16_t> codes);

}  // namespace roentgen::data
