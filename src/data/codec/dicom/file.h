// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// A DICOM file as a gray image: its header, and its stored samples before any lookup table. Only single gray images of
// up to 16 bits are accepted; the error for other files says why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "data/codec/gray_levels.h"

namespace roentgen::data {

/// Problems with the lookup tables, rescale values and windows of a file. They matter only for an Intensity that uses
/// these (is_viewed).
struct DicomView {
  /// Error message if a table or number cannot be read; otherwise empty.
  std::string fault;
  /// Kinds of deviations from what the file states, as texts that contain no file name.
  std::vector<std::string> notes;
};

/// Header of an image that can be read.
struct DicomHeader {
  std::int64_t width_px = 0;
  std::int64_t height_px = 0;
  /// Bits that the file allocates for a sample: 8 or 16.
  int bits_allocated = 16;
  /// Bit position of a sample's most significant bit.
  int high_bit = 15;
  /// Transfer Syntax UID.
  std::string syntax;
  GrayMeaning meaning;
  DicomView view;
  /// Deviations like those in view.notes that concern every Intensity.
  std::vector<std::string> notes;
};

/// Reads the header and nothing after it. Fails as DicomFile::open() does.
[[nodiscard]] Result<DicomHeader> read_dicom_image_header(std::span<const std::byte> bytes, std::string_view what);

struct ParsedDicom;

/// A file that was parsed up to its pixels. Thread-compatible.
class DicomFile {
 public:
  /// Opens a file; `bytes` must outlive it. Fails if the file is damaged or is not an image that header() can describe.
  /// The image size is not limited here.
  [[nodiscard]] static Result<DicomFile> open(std::span<const std::byte> bytes, std::string_view what);
  ~DicomFile();
  DicomFile(DicomFile&&) noexcept;
  DicomFile& operator=(DicomFile&&) noexcept;

  [[nodiscard]] const DicomHeader& header() const { return header_; }

  /// Fills `codes` (height_px, width_px) with the stored samples, as GrayTable numbers them. Call it only once.
  /// Allocates about the size of the image that the header states. Fails if data are damaged or missing, or if the size
  /// differs from the header's.
  [[nodiscard]] Status read_codes(std::string_view what, std::span<std::uint16_t> codes);

 private:
  DicomFile(DicomHeader header, std::unique_ptr<ParsedDicom> parsed);

  DicomHeader header_;
  std::unique_ptr<ParsedDicom> parsed_;
};

}  // namespace roentgen::data
