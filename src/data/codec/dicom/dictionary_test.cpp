// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/dicom/dictionary.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "data/codec/dicom/decode_testing.h"
#include "data/codec/dicom_study.h"
#include "data/codec/dicom_testing.h"

namespace roentgen::data {
namespace {

std::string implicit_element(std::uint32_t tag, const std::string& value) {
  return little_endian(tag >> 16U, 2) + little_endian(tag & 0xFFFFU, 2) + little_endian(value.size(), 4) + value;
}

// A data set of 2x2 pixels in implicit VR, with a sequence.
std::string implicit_dataset() {
  const std::string code = implicit_element(0x00080104, "postero-anterior");
  std::string bytes = implicit_element(0x00080060, "DX") + implicit_element(0x00100020, "P1") +
                      implicit_element(0x00185101, "PA") + implicit_element(0x00280002, little_endian(1, 2)) +
                      implicit_element(0x00280004, "MONOCHROME2 ");
  for (const auto& [element, number] : std::map<std::uint32_t, std::uint64_t>{
           {0x10, 2}, {0x11, 2}, {0x100, 16}, {0x101, 12}, {0x102, 11}, {0x103, 0}}) {
    bytes += implicit_element(0x00280000 | element, little_endian(number, 2));
  }
  return bytes + implicit_element(0x00540220, implicit_element(0xFFFEE000, code)) +
         implicit_element(0x7FE00010, pixel_bytes({}));
}

// DCMTK reads its dictionary file on first use. ctest runs this test in a separate process, without that file.
TEST(DicomDictionary, implicit_files_are_read_without_dcmtks_file) {
  ASSERT_EQ(::setenv("DCMDICTPATH", "/nonexistent/dicom.dic", 1), 0);
  const std::string file = implicit_dataset();
  Image image;
  const Status status = decode_test_file(file, image);
  ASSERT_TRUE(status.ok()) << status.error();
  EXPECT_EQ(image.samples<std::uint16_t>()[1], 1000);
  const auto study = read_dicom_study(std::as_bytes(std::span(file)), "study.dcm");
  ASSERT_TRUE(study) << study.error();
  EXPECT_EQ(study.value().view, "PA");
  EXPECT_EQ(study.value().view_code, "POSTERO-ANTERIOR");
  EXPECT_EQ(study.value().patient, "P1");
}

}  // namespace
}  // namespace roentgen::data
