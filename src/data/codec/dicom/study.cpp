// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/dicom_study.h"

#include <cctype>

#include <dcmtk/dcmdata/dcdeftag.h>
#include <dcmtk/dcmdata/dcuid.h>
#include <fmt/core.h>

#include "data/codec/dicom/dataset.h"
#include "data/codec/dicom/jpeg2000.h"
#include "data/codec/dicom_start.h"

namespace roentgen::data {
namespace {

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// Code Meaning of the first item in a code sequence.
std::string code_meaning(DcmItem& dataset, const DcmTagKey& sequence) {
  DcmItem* item = nullptr;
  if (dataset.findAndGetSequenceItem(sequence, item, 0).bad() || item == nullptr) return {};
  return text_of(*item, DCM_CodeMeaning);
}

}  // namespace

bool is_dicom_file(std::span<const std::byte> head) { return begins_as_dicom(head); }

Result<DicomStudy> read_dicom_study(std::span<const std::byte> bytes, std::string_view what) {
  const auto parsed = parse_dicom(bytes, what, DicomExtent::UntilPixels);
  if (!parsed) return parsed.why();
  DcmDataset& dataset = *parsed.value().dataset;
  DicomStudy study{.modality = upper(text_of(dataset, DCM_Modality)),
                   .body_part = upper(text_of(dataset, DCM_BodyPartExamined)),
                   .view = upper(text_of(dataset, DCM_ViewPosition)),
                   .view_code = upper(code_meaning(dataset, DCM_ViewCodeSequence)),
                   .intent = upper(text_of(dataset, DCM_PresentationIntentType)),
                   .patient = text_of(dataset, DCM_PatientID),
                   .sex = upper(text_of(dataset, DCM_PatientSex)),
                   .age = text_of(dataset, DCM_PatientAge)};
  study.has_size = dataset.tagExists(DCM_Rows) && dataset.tagExists(DCM_Columns);
  return study;
}

DicomSupport dicom_support() {
  const std::string jpeg2000 = jpeg2000_library();
  return {.is_built = true,
          .text = "DCMTK " OFFIS_DCMTK_VERSION_STRING + (jpeg2000.empty() ? ", no JPEG 2000" : ", " + jpeg2000)};
}

}  // namespace roentgen::data
