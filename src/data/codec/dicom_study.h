// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Study and patient from the header of a DICOM file, by which radiographs are selected. Also whether this program was
// built with DICOM.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"

namespace roentgen::data {

/// Texts without the blanks around them; empty: the header does not say.
struct DicomStudy {
  /// Upper case: "CR", "DX".
  std::string modality;
  /// Upper case: "CHEST".
  std::string body_part;
  /// View Position, upper case: "PA", "LL".
  std::string view;
  /// Meaning of the View Code Sequence, upper case: "POSTERO-ANTERIOR", "LATERAL".
  std::string view_code;
  /// Presentation Intent Type: "FOR PRESENTATION", "FOR PROCESSING".
  std::string intent;
  /// Patient ID. Never printed or written.
  std::string patient;
  /// "M", "F", "O".
  std::string sex;
  /// Patient's Age: "058Y".
  std::string age;
  /// Whether there are rows and columns, as in every image.
  bool has_size = false;
};

/// Do the first 132 bytes or more begin like DICOM?
[[nodiscard]] bool is_dicom_file(std::span<const std::byte> head);

/// Reads the header, which lies before the pixels; the rest of a mapped file is not touched. Failure: damaged, or a
/// program without DICOM. Thread-safe.
[[nodiscard]] Result<DicomStudy> read_dicom_study(std::span<const std::byte> bytes, std::string_view what);

/// DICOM support of this program.
struct DicomSupport {
  bool is_built = false;  ///< does it read DICOM?
  /// The libraries, or what to install.
  std::string text;
};
/// Says whether this program reads DICOM, and by which libraries.
[[nodiscard]] DicomSupport dicom_support();

}  // namespace roentgen::data
