// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Replacement for jpeg2000.cpp in builds without OpenJPEG.
#include "data/codec/dicom/jpeg2000.h"

namespace roentgen::data {

Status decode_jpeg2000(std::span<const std::byte>, std::string_view what, DicomHeader&, std::span<std::uint16_t>) {
  return failure("data.dicom", what, "a program built with OpenJPEG, to read JPEG 2000", "a program built without it",
                 "installing libopenjp2-7-dev and building again");
}

std::string jpeg2000_library() { return {}; }

}  // namespace roentgen::data
