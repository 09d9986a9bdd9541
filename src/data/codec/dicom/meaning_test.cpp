// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Lookup tables, rescale and windows in a header, tested by the resulting gray levels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "data/codec/dicom/decode_testing.h"

namespace roentgen::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint32_t kSlope = 0x00281053, kIntercept = 0x00281052, kCenter = 0x00281050, kWidth = 0x00281051;
constexpr std::uint32_t kFunction = 0x00281056, kModality = 0x00283000, kVoi = 0x00283010;

/// A table of four entries for the stored values 0 to 3.
TestElement lut(std::uint16_t bits, const std::vector<std::uint16_t>& entries, int entry_bytes = 2) {
  std::string data;
  for (const std::uint16_t entry : entries) data += little_endian(entry, entry_bytes);
  return sequence_element(
      {{0x00283002, {"US", little_endian(entries.size(), 2) + little_endian(0, 2) + little_endian(bits, 2)}},
       {0x00283006, {"OW", data}}});
}

TestDicom with(std::map<std::uint32_t, TestElement> elements, const std::string& photometric = "MONOCHROME2") {
  return {.photometric = photometric, .samples = {0, 1, 2, 3}, .elements = std::move(elements)};
}

TEST(DicomTable, that_says_16_bits_has_the_bits_of_its_entries) {
  struct Case {
    std::vector<std::uint16_t> entries;
    std::uint32_t white;
  };
  for (const Case& one : {Case{{24, 1000, 2000, 4071}, 4095}, Case{{0, 1, 500, 1023}, 1023}, Case{{0, 1, 2, 255}, 255},
                          Case{{0, 9, 30000, 40000}, 65535}}) {
    for (const std::uint32_t tag : {kVoi, kModality}) {
      const auto plain = decoded(with({{tag, lut(16, one.entries)}}), Intensity::Voi);
      EXPECT_EQ(plain.white, one.white);
      EXPECT_EQ(plain.levels, one.entries);
      const auto inverted = decoded(with({{tag, lut(16, one.entries)}}, "MONOCHROME1"), Intensity::Voi);
      EXPECT_EQ(inverted.white, one.white);
      EXPECT_EQ(inverted.levels[3], one.white - one.entries[3]);
    }
  }
}

TEST(DicomTable, of_packed_bytes_has_8_bits_whatever_it_says) {
  for (const std::uint16_t bits : {std::uint16_t{8}, std::uint16_t{12}, std::uint16_t{16}}) {
    const auto read = decoded(with({{kVoi, lut(bits, {0, 10, 200, 255}, 1)}}), Intensity::Voi);
    EXPECT_EQ(read.white, 255U) << bits;
    EXPECT_THAT(read.levels, ElementsAre(0, 10, 200, 255)) << bits;
  }
}

TEST(DicomTable, with_larger_entries_than_it_says_has_their_bits) {
  EXPECT_EQ(decoded(with({{kVoi, lut(8, {0, 10, 20000, 65535})}}), Intensity::Voi).white, 65535U);
  const auto one_too_many = decoded(with({{kVoi, lut(12, {0, 10, 4095, 4096})}}), Intensity::Voi);
  EXPECT_EQ(one_too_many.white, 4095U);
  EXPECT_THAT(one_too_many.levels, ElementsAre(0, 10, 4095, 4095));
}

TEST(DicomTable, with_other_bits_than_it_says_is_named_once) {
  // Uses bits that no other test in this executable uses, so that the warning has not been printed yet.
  const TestDicom dicom = with({{kVoi, lut(15, {0, 1, 500, 600})}});
  testing::internal::CaptureStderr();
  static_cast<void>(decoded(dicom, Intensity::Stored));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), Not(HasSubstr("lookup tables"))) << "stored values use no table";
  testing::internal::CaptureStderr();
  static_cast<void>(decoded(dicom, Intensity::Voi));
  EXPECT_THAT(
      testing::internal::GetCapturedStderr(),
      HasSubstr("DICOM lookup tables that state 15 bits but have entries of 10 are read with 10 bits; the first is "
                "study.dcm"));
  testing::internal::CaptureStderr();
  static_cast<void>(decoded(dicom, Intensity::Voi));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), Not(HasSubstr("lookup tables")));
}

TEST(DicomNumber, that_cannot_be_read_refuses_the_file_under_voi_alone) {
  struct Case {
    std::uint32_t tag;
    const char* text;
    const char* message;
  };
  for (const Case& one :
       {Case{kSlope, "0,2500", "expected Rescale Slope (0028,1053) as one decimal number, got \"0,2500\""},
        Case{kSlope, "n/a", "got \"n/a\""}, Case{kSlope, "1\\2", "got 2 values"},
        Case{kSlope, "0", "expected Rescale Slope (0028,1053) as a number other than 0, got 0"},
        Case{kSlope, "0.0", "a number other than 0"}, Case{kSlope, "1e-320", "a number other than 0, got 1e-320"},
        Case{kSlope, "1e-400", "got \"1e-400\""}, Case{kWidth, "1e-320", "expected Window Width (0028,1051)"},
        Case{kIntercept, "-1024 HU", "expected Rescale Intercept (0028,1052)"},
        Case{kCenter, "2,048", "expected Window Center (0028,1050)"},
        Case{kWidth, "wide", "expected Window Width (0028,1051)"},
        Case{kWidth, "1e400", "expected Window Width (0028,1051)"}}) {
    std::map<std::uint32_t, TestElement> elements{{kCenter, text_element("DS", "2")},
                                                  {kWidth, text_element("DS", "4")}};
    elements[one.tag] = text_element("DS", one.text);
    const TestDicom dicom = with(elements);
    EXPECT_THAT(error_of(dicom, Intensity::Voi),
                AllOf(HasSubstr(one.message), HasSubstr("[data.dicom] study.dcm"), HasSubstr("intensity=stored")));
    EXPECT_THAT(error_of(dicom, Intensity::Nih), HasSubstr(one.message));
    EXPECT_EQ(error_of(dicom, Intensity::Stored), "no error");
    EXPECT_EQ(error_of(dicom, Intensity::Xrv), "no error");
  }
}

TEST(DicomNumber, of_a_slope_that_the_intercept_swallows_is_refused) {
  const auto error_with = [](const char* slope) {
    return error_of(with({{kSlope, text_element("DS", slope)}, {kIntercept, text_element("DS", "-1024")}}),
                    Intensity::Voi);
  };
  EXPECT_THAT(error_with("1e-300"), HasSubstr("a slope that maps stored values to different numbers, got 1e-300 with"));
  EXPECT_EQ(error_with("1e-10"), "no error");
}

TEST(DicomNumber, that_is_blank_is_absent) {
  const TestDicom dicom = with({{kSlope, text_element("DS", "  ")}, {kIntercept, text_element("DS", "")}});
  EXPECT_THAT(levels_of(dicom, Intensity::Voi), ElementsAre(0, 1, 2, 3));
}

TEST(DicomNumber, that_is_not_used_may_be_anything) {
  EXPECT_EQ(error_of(with({{kModality, lut(8, {0, 1, 2, 255})}, {kSlope, text_element("DS", "n/a")}}), Intensity::Voi),
            "no error");
  EXPECT_EQ(error_of(with({{kVoi, lut(8, {0, 1, 2, 255})}, {kWidth, text_element("DS", "n/a")}}), Intensity::Voi),
            "no error");
}

TEST(DicomWindow, that_is_empty_or_undefined_hides_no_other) {
  const auto levels = [](const char* centers, const char* widths) {
    return levels_of(with({{kCenter, text_element("DS", centers)},
                           {kWidth, text_element("DS", widths)},
                           {kFunction, text_element("CS", "LINEAR_EXACT")}}),
                     Intensity::Voi);
  };
  const std::vector<std::uint16_t> applied{0, 32768, 65535, 65535};
  EXPECT_EQ(levels("1", "2"), applied);
  EXPECT_EQ(levels("\\1", "\\2"), applied);
  EXPECT_EQ(levels("5\\1", "\\2"), applied);
  EXPECT_EQ(levels("5\\1", "0\\2"), applied);
  EXPECT_EQ(levels("1\\n/a", "2\\n/a"), applied) << "only the first is used";
  EXPECT_THAT(levels("\\1", "2"), ElementsAre(0, 1, 2, 3)) << "no window is whole";
}

TEST(DicomInversion, of_xrv_follows_the_photometric_interpretation_alone) {
  const std::map<std::uint32_t, TestElement> inverse{{0x20500020, text_element("CS", "INVERSE")}};
  EXPECT_THAT(levels_of(with(inverse), Intensity::Stored), ElementsAre(4095, 4094, 4093, 4092));
  EXPECT_THAT(levels_of(with(inverse), Intensity::Xrv), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(levels_of(with({}, "MONOCHROME1"), Intensity::Xrv), ElementsAre(4095, 4094, 4093, 4092));
}

}  // namespace
}  // namespace roentgen::data
