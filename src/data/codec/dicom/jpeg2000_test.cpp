// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Decodes streams that tools/peers/dicom_streams_golden.py printed.
#include "data/codec/dicom/jpeg2000.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/codec/dicom/decode_testing.h"

namespace roentgen::data {
namespace {

using ::testing::HasSubstr;

constexpr std::uint16_t kWidth_px = 8, kHeight_px = 6;
constexpr const char* kJpeg2000 = "1.2.840.10008.1.2.4.90";

constexpr std::string_view kHtj2kStream =
    "ff4fff5100294000000000080000000600000000000000000000000800000006000000000000000000010f0101ff50000800020000000aff"
    "52000c00020001000504044001ff5c00132088909090909090909090909090888888ff64001700014f70656e4a50482056657220302e3236"
    "2e332eff90000a00000000007e0001ff93c0002653f2050774000000c00012c0001280ac01877400a801077400c0001550000460fee80f8a"
    "53fc00c19400063300c0002d280005b30000abfefb8f0002fe23f0002940bf18c600727a00feefff7ec77ffef7bfff7fbf0934a1ebbdfe0d"
    "b3214032b700fef7bfff7f181198027600ffd9";
constexpr std::string_view kDeepStream =
    "ff4fff5100290000000000080000000600000000000000000000000800000006000000000000000000010c0101ff52000c00000001000004"
    "040001ff5c00044068ff640025000143726561746564206279204f70656e4a5045472076657273696f6e20322e352e34ff90000a00000000"
    "005d0001ff93cff098117fa768dc2b0ea65491713437b3094c38433697e50fe5cd4dda30592c67db5e4075db267bcc223e7db26909665f94"
    "654790f02adcd79fe9c4ea21bb2de20c37a50bc565362bb7e6c361c036ffd9";

std::string bytes_of(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

std::vector<std::uint16_t> picture(int top) {
  std::vector<std::uint16_t> levels;
  for (int y = 0; y < kHeight_px; ++y) {
    for (int x = 0; x < kWidth_px; ++x) levels.push_back(static_cast<std::uint16_t>(517 * (x + 4 * y) % 4096 + top));
  }
  return levels;
}

TestDicom dicom_of(const std::string& stream, const char* syntax = kJpeg2000) {
  return {.width_px = kWidth_px,
          .height_px = kHeight_px,
          .syntax = syntax,
          .fragments = {stream + std::string(stream.size() % 2, '\0')}};
}

class Jpeg2000 : public testing::Test {
 protected:
  void SetUp() override {
    if (jpeg2000_library().empty()) GTEST_SKIP() << "NO OPENJPEG, NOTHING TESTED";
  }
};

TEST_F(Jpeg2000, of_high_throughput_is_read) {
  for (const char* syntax : {"1.2.840.10008.1.2.4.201", "1.2.840.10008.1.2.4.202", "1.2.840.10008.1.2.4.203"}) {
    const auto read = decoded(dicom_of(bytes_of(kHtj2kStream), syntax));
    EXPECT_EQ(read.levels, picture(0)) << syntax;
    EXPECT_EQ(read.white, 4095U) << syntax;
  }
}

TEST_F(Jpeg2000, with_more_bits_than_the_header_says_is_named_once) {
  testing::internal::CaptureStderr();
  const auto read = decoded(dicom_of(bytes_of(kDeepStream)));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("the 12 bits of Bits Stored are read with 13 bits"));
  EXPECT_EQ(read.levels, picture(600));
  EXPECT_EQ(read.white, 8191U);
}

TEST_F(Jpeg2000, with_a_byte_missing_or_too_many_is_refused) {
  for (const std::string_view hex : {kHtj2kStream, kDeepStream}) {
    const std::string stream = bytes_of(hex);
    for (std::size_t at = 2; at + 2 < stream.size(); at += 7) {
      std::string missing = stream, surplus = stream;
      missing.erase(at, 1);
      surplus.insert(at, 1, '\x5A');
      EXPECT_THAT(error_of(dicom_of(missing)), HasSubstr("[data.dicom] study.dcm: expected")) << at;
      EXPECT_THAT(error_of(dicom_of(surplus)), HasSubstr("[data.dicom] study.dcm: expected")) << at;
    }
  }
}

TEST_F(Jpeg2000, of_two_frames_is_refused) {
  TestDicom dicom = dicom_of(bytes_of(kDeepStream));
  dicom.fragments.push_back(dicom.fragments[0]);
  EXPECT_THAT(error_of(dicom), HasSubstr("expected a single image (frame), got pixel data of 2 frames"));
}

}  // namespace
}  // namespace roentgen::data
