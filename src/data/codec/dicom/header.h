// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads DicomHeader from a data set, and refuses unsupported images. Only the files of this folder include it.
#pragma once

#include "data/codec/dicom/dataset.h"
#include "data/codec/dicom/file.h"

namespace roentgen::data {

/// Decoder that reads the pixels of a transfer syntax.
enum class PixelCoding : std::uint8_t {
  Plain,     ///< uncompressed, except that the whole data set may be deflated
  Jpeg8,     ///< JPEG baseline, decoded by our own JPEG codec
  Jpeg,      ///< JPEG extended and lossless, decoded by jpeg_stream.h
  JpegLs,    ///< JPEG-LS, decoded by jpeg_stream.h
  Rle,       ///< DICOM's run-length coding, decoded by rle.h
  Jpeg2000,  ///< JPEG 2000 and HTJ2K, decoded by jpeg2000.h
};

/// Returns the decoder for a Transfer Syntax UID. Fails if the syntax is not supported.
[[nodiscard]] Result<PixelCoding> coding_of(const std::string& syntax, std::string_view what);

/// Reads and checks the image header of a data set that was parsed up to `extent`.
[[nodiscard]] Result<DicomHeader> read_header(DcmDataset& dataset, const std::string& syntax, std::string_view what,
                                              DicomExtent extent = DicomExtent::Whole);

}  // namespace roentgen::data
