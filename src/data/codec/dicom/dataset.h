// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Bytes of a DICOM file to DCMTK's data set, with what hostile bytes could cost held in bounds before it is spent.
// Only the files of this folder include it.
#pragma once

#include <dcmtk/config/osconfig.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <dcmtk/dcmdata/dcdatset.h>

#include "core/result.h"

namespace roentgen::data {

/// A file that was read; long values lie where they were.
struct ParsedDicom {
  /// Transfer Syntax UID; empty where the file does not say.
  std::string syntax;
  /// What a deflated file unpacks to.
  std::vector<std::byte> inflated;
  /// Refers to the bytes of the file, or to `inflated`.
  std::unique_ptr<DcmDataset> dataset;
};

/// How much of the file is read.
enum class DicomExtent : std::uint8_t { UntilPixels, Whole };

/// "DICM" after a preamble of 128 bytes?
[[nodiscard]] bool is_dicom(std::span<const std::byte> bytes);

/// Reads a file; `bytes` must outlive the result. Failure: cut short, damaged, nested or unpacking beyond bounds.
/// Thread-safe; readies DCMTK on the first call: no log, its decoders.
[[nodiscard]] Result<ParsedDicom> parse_dicom(std::span<const std::byte> bytes, std::string_view what,
                                              DicomExtent extent);

/// A text value without the blanks around it; only the first of several; empty: there is none.
[[nodiscard]] std::string text_of(DcmItem& item, const DcmTagKey& tag);

}  // namespace roentgen::data
