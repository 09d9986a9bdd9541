// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Replacement for builds without DCMTK: recognises DICOM files, and errors name the missing library.
#include "data/codec/codec_table.h"
#include "data/codec/dicom_start.h"
#include "data/codec/dicom_study.h"

namespace roentgen::data {
namespace {

using Bytes = std::span<const std::byte>;

Failure not_built(std::string_view what) {
  return failure("data.dicom", what, "a program built with DCMTK, to read DICOM", "a program built without it",
                 "installing libdcmtk-dev and building again");
}

Result<ImageInfo> read_info(Bytes, std::string_view what) { return not_built(what); }

Status decode(const DecodeJob& job, Image&) { return not_built(job.what); }

}  // namespace

const Codec& codec_dicom() {
  static constexpr Codec kCodec{"dicom", "DICOM", begins_as_dicom, read_info, decode};
  return kCodec;
}

bool is_dicom_file(Bytes head) { return begins_as_dicom(head); }

Result<DicomStudy> read_dicom_study(Bytes, std::string_view what) { return not_built(what); }

DicomSupport dicom_support() {
  return {.is_built = false, .text = "built without DCMTK: install libdcmtk-dev and libopenjp2-7-dev, and build again"};
}

}  // namespace roentgen::data
