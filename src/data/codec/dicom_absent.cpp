// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Stands in where DCMTK was not found: knows a DICOM file when it sees one, and says what is missing.
#include <cstring>

#include "data/codec/codec_table.h"
#include "data/codec/dicom_study.h"

namespace roentgen::data {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::size_t kPreamble_bytes = 128;

Failure not_built(std::string_view what) {
  return failure("data.dicom", what, "a program built with DCMTK to read DICOM", "one without",
                 "installing libdcmtk-dev and building again");
}

bool probe(Bytes bytes) {
  return bytes.size() >= kPreamble_bytes + 4 && std::memcmp(bytes.data() + kPreamble_bytes, "DICM", 4) == 0;
}

Result<ImageInfo> read_info(Bytes, std::string_view what) { return not_built(what); }

Status decode(const DecodeJob& job, Image&) { return not_built(job.what); }

}  // namespace

const Codec& codec_dicom() {
  static constexpr Codec kCodec{"dicom", "DICOM", probe, read_info, decode};
  return kCodec;
}

bool is_dicom_file(Bytes head) { return probe(head); }

Result<DicomStudy> read_dicom_study(Bytes, std::string_view what) { return not_built(what); }

DicomSupport dicom_support() {
  return {.is_built = false, .text = "built without DCMTK: install libdcmtk-dev and libopenjp2-7-dev, and build again"};
}

}  // namespace roentgen::data
