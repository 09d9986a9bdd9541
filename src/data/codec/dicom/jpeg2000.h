// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// JPEG 2000 frames of DICOM files, HTJ2K included, by OpenJPEG (HTJ2K since 2.5.0); Debian's DCMTK has no decoder of
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"
#include "data/codec/dicom/file.h"

namespace roentgen::data {

/// Decodes a codestream, or a JP2 file with one, into the codes of its image. Raises bits_stored to the codestream's
/// precision where a sample needs it. Failure: damaged, short, colour, another size than the header's, more than 16
/// bits, or built without OpenJPEG. Thread-safe.
[[nodiscard]] Status decode_jpeg2000(std::span<const std::byte> stream, std::string_view what, DicomHeader& header,
                                     std::span<std::uint16_t> codes);

/// "OpenJPEG 2.5.0", or "" in a build without it.
[[nodiscard]] std::string jpeg2000_library();

}  // namespace roentgen::data
