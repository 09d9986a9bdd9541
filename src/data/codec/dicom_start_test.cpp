// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/dicom_start.h"

#include <gtest/gtest.h>

#include "data/codec/dicom_testing.h"

namespace roentgen::data {
namespace {

bool begins(std::string_view file) {
  return begins_as_dicom(std::as_bytes(std::span(file)).first(std::min<std::size_t>(file.size(), 132)));
}

/// The first elements of a data set with implicit value representations.
std::string implicit_elements() {
  const auto element = [](std::uint32_t number, const std::string& value) {
    return little_endian(0x0008, 2) + little_endian(number, 2) + little_endian(value.size(), 4) + value;
  };
  return element(0x0008, "ORIGINAL") + element(0x0016, "1.2.840.10008.5.1.4.1.1.1 ") + element(0x0060, "DX");
}

TEST(DicomStart, has_a_preamble_or_none) {
  const std::string file = encode_test_dicom({});
  EXPECT_TRUE(begins(file));
  EXPECT_TRUE(begins(file.substr(132))) << "meta information";
  EXPECT_TRUE(begins(encode_dataset({}))) << "explicit data set";
  EXPECT_TRUE(begins(implicit_elements()));
}

TEST(DicomStart, is_not_that_of_other_files) {
  using namespace std::string_view_literals;
  EXPECT_FALSE(begins(""));
  EXPECT_FALSE(begins("path,sick\na.dcm,1\n"));
  EXPECT_FALSE(begins(std::string(200, '\0')));
  EXPECT_FALSE(begins("\x08\0\x05\0"sv)) << "a tag alone";
  EXPECT_FALSE(begins("\x08\0\x05\0\x0A\0\0\0ISO_IR 100\x07\0\x01\0\0\0\0\0"sv)) << "a group that comes before";
  EXPECT_FALSE(begins("\x10\0\x10\0LO\x04\0name"sv)) << "no first group";
  EXPECT_FALSE(begins("\x08\0\x05\0XX\x0A\0ISO_IR 100"sv)) << "no value representation";
}

}  // namespace
}  // namespace roentgen::data
