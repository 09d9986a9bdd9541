// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads DicomHeader from a data set, and refuses unsupported images. Only the files of this folder include it.
#pragma once

#include "data/codec/dicom/dataset.h"
#include "data/codec/dicom/file.h"

namespace roentgen::data {

/// Decoder of a transfer syntax's pixels.
enum class PixelCoding : std::uint8_t {
  Plain,     ///< no compression but that of the whole data set
  Jpeg8,     ///< JPEG baseline: our own codec
  Jpeg,      ///< JPEG extended and lossless: jpeg_stream.h
  JpegLs,    ///< jpeg_stream.h
  Rle,       ///< rle.h
  Jpeg2000,  ///< jpeg2000.h, HTJ2K included
};

/// Decoder for a Transfer Syntax UID; Failure for an unsupported one.
[[nodiscard]] Result<PixelCoding> coding_of(const std::string& syntax, std::string_view what);

/// Reads and checks the header of a data set that was read so far.
[[nodiscard]] Result<DicomHeader> read_header(DcmDataset& dataset, const std::string& syntax, std::string_view what,
                                              DicomExtent extent = DicomExtent::Whole);

}  // namespace roentgen::data
