// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Built only if DCMTK was not found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/codec/codec.h"
#include "data/codec/dicom_study.h"
#include "data/codec/dicom_testing.h"

namespace roentgen::data {
namespace {

using ::testing::HasSubstr;

TEST(DicomAbsent, a_dicom_file_is_known_and_refused_with_what_to_install) {
  const std::string file = encode_test_dicom({});
  const auto bytes = std::as_bytes(std::span(file));
  constexpr const char* kExpected =
      "[data.dicom] x: expected a program built with DCMTK, to read DICOM, got a program built without it; "
      "try installing libdcmtk-dev and building again";
  EXPECT_TRUE(is_dicom_file(bytes));
  EXPECT_EQ(read_info(bytes, "x").error(), kExpected);
  Image image;
  EXPECT_EQ(Decoder().decode(bytes, "x", {}, image).error(), kExpected);
  EXPECT_EQ(read_dicom_study(bytes, "x").error(), kExpected);
  EXPECT_FALSE(dicom_support().is_built);
  EXPECT_THAT(dicom_support().text, HasSubstr("libdcmtk-dev"));
}

}  // namespace
}  // namespace roentgen::data
