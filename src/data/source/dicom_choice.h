// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Which DICOM files of a hospital's folder are frontal chest radiographs to be shown, by their headers alone, and how
// many were left out and why.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/codec/dicom_study.h"
#include "data/source/folder_walk.h"

namespace roentgen::data {

/// True for .dcm, .dicom, .dic and .ima in any case, and for names without letters behind their last dot, as DICOM
/// files often have: IM000001, 1.2.840.113619.2.
[[nodiscard]] bool may_be_dicom(const std::filesystem::path& path);

/// A file that begins as DICOM does. False for what cannot be read.
[[nodiscard]] bool starts_as_dicom(const std::filesystem::path& path);

/// Reads the header of a file. Failure: as read_dicom_study(), or a file that cannot be opened.
[[nodiscard]] Result<DicomStudy> read_dicom_header(const std::filesystem::path& path);

/// Why it is left out, as a kind ("laterals"); empty: it is a frontal chest radiograph, or nothing speaks against it.
/// Left out is what holds no image, is no CR, DX or RG, is FOR PROCESSING, of another body part, or a lateral or
/// oblique view.
[[nodiscard]] std::string exclusion_of(const DicomStudy& study);

/// "PA", "AP", "LLD", ... of View Position, or else of the view code; empty: unknown.
[[nodiscard]] std::string view_of(const DicomStudy& study);

/// Text on the kinds that are left out, with their counts: "left out, laterals: 3, modality CT: 2"; empty: none is.
[[nodiscard]] std::string exclusions_text(const Tally& kinds);

}  // namespace roentgen::data
