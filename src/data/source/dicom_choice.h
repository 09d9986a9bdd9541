// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Selects, by their headers alone, the DICOM files of a hospital's folder that are frontal chest radiographs for
// presentation. Counts the files left out, by reason.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/codec/dicom_study.h"
#include "data/source/folder_walk.h"

namespace roentgen::data {

/// True for the endings .dcm, .dicom, .dic and .ima in any case. True also for names without letters after their last
/// dot, as DICOM files often have: IM000001, 1.2.840.113619.2.
[[nodiscard]] bool may_be_dicom(const std::filesystem::path& path);

/// A file that begins as DICOM does. False for what cannot be read.
[[nodiscard]] bool starts_as_dicom(const std::filesystem::path& path);

/// Reads the header of a file. Failure: as read_dicom_study(), or a file that cannot be opened.
[[nodiscard]] Result<DicomStudy> read_dicom_header(const std::filesystem::path& path);

/// Reason to leave a file out, as a kind ("laterals"); empty: it is a frontal chest radiograph, or nothing contradicts
/// that. Files are left out that hold no image, are no CR, DX or RG, are FOR PROCESSING, or show another body part.
/// Lateral and oblique views are left out too.
[[nodiscard]] std::string exclusion_of(const DicomStudy& study);

/// "PA", "AP", "LLD", ... of View Position, or else of the view code; empty: unknown.
[[nodiscard]] std::string view_of(const DicomStudy& study);

/// Counts of the files left out by kind: "left out, laterals: 3, modality CT: 2"; empty: none.
[[nodiscard]] std::string exclusions_text(const Tally& kinds);

}  // namespace roentgen::data
