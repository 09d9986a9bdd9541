// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Selects the frontal chest radiographs for presentation from a hospital's DICOM files, by their headers alone. Counts
// excluded files by reason.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/codec/dicom_study.h"
#include "data/source/folder_walk.h"

namespace roentgen::data {

/// True for the extensions .dcm, .dicom, .dic and .ima, ignoring case. Also true if no letters follow the last dot, as
/// in many names of DICOM files: IM000001, 1.2.840.113619.2.
[[nodiscard]] bool may_be_dicom(const std::filesystem::path& path);

/// True if the file begins like a DICOM file; false if it cannot be read.
[[nodiscard]] bool starts_as_dicom(const std::filesystem::path& path);

/// Reads the header of a file. Fails as read_dicom_study() does, or if the file cannot be opened.
[[nodiscard]] Result<DicomStudy> read_dicom_header(const std::filesystem::path& path);

/// Reason to exclude a file, such as "laterals"; empty for frontal chest radiographs and if the header contradicts
/// nothing. Excluded are files without an image, modalities other than CR, DX and RG, FOR PROCESSING, and other body
/// parts. Lateral and oblique views are also excluded.
[[nodiscard]] std::string exclusion_of(const DicomStudy& study);

/// View such as "PA", "AP" or "LLD", from View Position or else from the view code; empty: unknown.
[[nodiscard]] std::string view_of(const DicomStudy& study);

/// Number of excluded files by reason, as "left out, laterals: 3, modality CT: 2"; empty if none.
[[nodiscard]] std::string exclusions_text(const Tally& kinds);

}  // namespace roentgen::data
