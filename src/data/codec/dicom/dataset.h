// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Parses the bytes of a DICOM file into DCMTK's data set. Limits the cost of hostile files before memory or time is
// spent. Only the files of this folder include it.
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

/// Transfer syntaxes of HTJ2K, which DCMTK 3.6.7 does not know: lossless, lossless in RPCL order, and any.
inline constexpr const char* kHtj2kLossless = "1.2.840.10008.1.2.4.201";
inline constexpr const char* kHtj2kLosslessRpcl = "1.2.840.10008.1.2.4.202";
inline constexpr const char* kHtj2k = "1.2.840.10008.1.2.4.203";

/// A parsed file; long values stay in the original bytes.
struct ParsedDicom {
  /// Transfer Syntax UID; empty where the file does not say.
  std::string syntax;
  /// Unpacked bytes of a deflated file.
  std::vector<std::byte> inflated;
  /// Refers to the bytes of the file, or to `inflated`.
  std::unique_ptr<DcmDataset> dataset;
};

/// Extent of reading.
enum class DicomExtent : std::uint8_t { UntilPixels, Whole };

/// Reads a file; `bytes` must outlive the result. Failure: cut short, damaged, nested or unpacking beyond bounds.
/// Thread-safe; silences DCMTK's log on the first call.
[[nodiscard]] Result<ParsedDicom> parse_dicom(std::span<const std::byte> bytes, std::string_view what,
                                              DicomExtent extent);

/// A text value without the blanks around it; only the first of several; empty: there is none.
[[nodiscard]] std::string text_of(DcmItem& item, const DcmTagKey& tag);

}  // namespace roentgen::data
