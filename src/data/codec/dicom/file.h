// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// A DICOM file as a gray image: its header, and its samples as stored, before any table. Anything but a single gray
// image of up to 16 bits is refused by name.
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

/// Notes on how the file's own tables, rescale and windows were read. Only intensities that use them (is_viewed) need
/// it.
struct DicomView {
  /// Error message of a table or number that cannot be read; empty if all can.
  std::string fault;
  /// Kinds of deviations from the file's own statements, as texts that name no file.
  std::vector<std::string> notes;
};

/// Header of an image that can be read.
struct DicomHeader {
  std::int64_t width_px = 0;
  std::int64_t height_px = 0;
  /// Bits of a sample in the file: 8 or 16.
  int bits_allocated = 16;
  /// Place of a sample's upper bit.
  int high_bit = 15;
  /// Transfer Syntax UID.
  std::string syntax;
  GrayMeaning meaning;
  DicomView view;
  /// Like view.notes, but for every intensity.
  std::vector<std::string> notes;
};

/// Reads the header, which lies before the pixels; reads nothing after them. Failure: as DicomFile::open().
[[nodiscard]] Result<DicomHeader> read_dicom_image_header(std::span<const std::byte> bytes, std::string_view what);

struct ParsedDicom;

/// A file read up to its pixels. Thread-compatible.
class DicomFile {
 public:
  /// Opens a file; `bytes` must outlive it. Failure: damaged, or no image of header()'s kind. Sizes are not limited
  /// here.
  [[nodiscard]] static Result<DicomFile> open(std::span<const std::byte> bytes, std::string_view what);
  ~DicomFile();
  DicomFile(DicomFile&&) noexcept;
  DicomFile& operator=(DicomFile&&) noexcept;

  [[nodiscard]] const DicomHeader& header() const { return header_; }

  /// Fills `codes` (height_px, width_px) with the samples, numbered as in GrayTable; call it once. Needs extra memory
  /// of about the image size that the header states. Failure: damaged or missing data, or another size than the
  /// header's.
  [[nodiscard]] Status read_codes(std::string_view what, std::span<std::uint16_t> codes);

 private:
  DicomFile(DicomHeader header, std::unique_ptr<ParsedDicom> parsed);

  DicomHeader header_;
  std::unique_ptr<ParsedDicom> parsed_;
};

}  // namespace roentgen::data
