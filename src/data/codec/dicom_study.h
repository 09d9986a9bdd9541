// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads study and patient attributes from the header of a DICOM file, to select radiographs. Also reports whether this
// program was built with DICOM support.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/result.h"

namespace roentgen::data {

/// Attributes of a study. Texts have no blanks around them and are empty if the header lacks the attribute.
struct DicomStudy {
  /// Modality in upper case, such as "CR" or "DX".
  std::string modality;
  /// Body part in upper case, such as "CHEST".
  std::string body_part;
  /// View Position in upper case, such as "PA" or "LL".
  std::string view;
  /// Meaning of the View Code Sequence in upper case, such as "POSTERO-ANTERIOR" or "LATERAL".
  std::string view_code;
  /// Presentation Intent Type: "FOR PRESENTATION" or "FOR PROCESSING".
  std::string intent;
  /// Patient ID. Never printed or written.
  std::string patient;
  /// Patient's sex: "M", "F" or "O".
  std::string sex;
  /// Patient's age, such as "058Y".
  std::string age;
  /// True if the header has Rows and Columns, as every image does.
  bool has_size = false;
};

/// True if `head`, at least the first 132 bytes of a file, begins like DICOM.
[[nodiscard]] bool is_dicom_file(std::span<const std::byte> head);

/// Reads the header and does not touch the rest of a mapped file. Fails if the header is damaged or the program was
/// built without DICOM support. Thread-safe.
[[nodiscard]] Result<DicomStudy> read_dicom_study(std::span<const std::byte> bytes, std::string_view what);

/// Whether this program supports DICOM.
struct DicomSupport {
  bool is_built = false;  ///< true if the program can read DICOM
  /// Names of the DICOM libraries, or of the packages to install.
  std::string text;
};
/// Returns whether this program can read DICOM, and with which libraries.
[[nodiscard]] DicomSupport dicom_support();

}  // namespace roentgen::data
