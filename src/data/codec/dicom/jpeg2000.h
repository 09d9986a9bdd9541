// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Decodes JPEG 2000 frames of DICOM files with OpenJPEG, HTJ2K included (since OpenJPEG 2.5.0). Debian's DCMTK cannot
// decode them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"
#include "data/codec/dicom/file.h"

namespace roentgen::data {

/// Decodes a codestream, or a JP2 file that contains one, into the codes of its image. Raises bits_stored to the
/// codestream's precision if a sample needs it. Fails if the stream is damaged, truncated, in colour, above 16 bits, or
/// has another size than the header states. Fails in builds without OpenJPEG. Thread-safe.
[[nodiscard]] Status decode_jpeg2000(std::span<const std::byte> stream, std::string_view what, DicomHeader& header,
                                     std::span<std::uint16_t> codes);

/// Name and version such as "OpenJPEG 2.5.0"; empty in a build without OpenJPEG.
[[nodiscard]] std::string jpeg2000_library();

}  // namespace roentgen::data
