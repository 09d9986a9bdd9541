// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Parses the bytes of a DICOM file into DCMTK's data set. Refuses hostile files before they cost memory or time. Only
// the files of this folder include it.
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

/// Transfer syntaxes of HTJ2K, which DCMTK 3.6.7 does not know: lossless, lossless in RPCL order, and general.
inline constexpr const char* kHtj2kLossless = "1.2.840.10008.1.2.4.201";
inline constexpr const char* kHtj2kLosslessRpcl = "1.2.840.10008.1.2.4.202";
inline constexpr const char* kHtj2k = "1.2.840.10008.1.2.4.203";

/// A parsed file. Long values stay in the original bytes.
struct ParsedDicom {
  /// Transfer Syntax UID; empty if the file states none.
  std::string syntax;
  /// Unpacked data set of a deflated file; empty otherwise.
  std::vector<std::byte> inflated;
  /// Data set, which refers to the bytes of the file or to `inflated`.
  std::unique_ptr<DcmDataset> dataset;
};

/// How far a file is read: up to the pixel data, or to its end.
enum class DicomExtent : std::uint8_t { UntilPixels, Whole };

/// Parses a file; `bytes` must outlive the result. Fails if the file is truncated or damaged, or if nesting or unpacked
/// size exceeds a limit. Thread-safe; the first call silences DCMTK's log.
[[nodiscard]] Result<ParsedDicom> parse_dicom(std::span<const std::byte> bytes, std::string_view what,
                                              DicomExtent extent);

/// First value of a text element, without blanks around it. Empty if the element is absent.
[[nodiscard]] std::string text_of(DcmItem& item, const DcmTagKey& tag);

}  // namespace roentgen::data
