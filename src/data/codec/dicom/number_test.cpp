// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/dicom/number.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <dcmtk/dcmdata/dcdeftag.h>

namespace roentgen::data {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(DicomDecimal, is_read_as_a_whole) {
  EXPECT_EQ(parse_decimal("0.25"), 0.25);
  EXPECT_EQ(parse_decimal("  -1024 "), -1024.0);
  EXPECT_EQ(parse_decimal(std::string_view("+2.5E1\0", 7)), 25.0);
  EXPECT_EQ(parse_decimal(".5"), 0.5);
  EXPECT_EQ(parse_decimal("3."), 3.0);
  EXPECT_EQ(parse_decimal("-0"), 0.0);
}

TEST(DicomDecimal, that_is_something_else_is_none) {
  for (const char* text : {"", " ", "0,2500", "2,048", "1024 HU", "n/a", "1 2", "inf", "nan", "0x10", "1e400", "1e-400",
                           "--1", "+-1", "1e", "e5", ".", "1.2.3", "1_000"}) {
    EXPECT_EQ(parse_decimal(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_decimal(std::string_view("1\0"
                                           "2",
                                           3)),
            std::nullopt)
      << "a NUL inside";
}

TEST(DicomValues, keep_their_places) {
  DcmDataset dataset;
  ASSERT_TRUE(dataset.putAndInsertString(DCM_WindowWidth, "\\ 400 \\n/a").good());
  EXPECT_THAT(values_of(dataset, DCM_WindowWidth), ElementsAre("", "400", "n/a"));
  ASSERT_TRUE(dataset.putAndInsertString(DCM_WindowCenter, "\\ ").good());
  EXPECT_THAT(values_of(dataset, DCM_WindowCenter), IsEmpty());
  EXPECT_THAT(values_of(dataset, DCM_RescaleSlope), IsEmpty());
}

TEST(QuotedValue, is_short_and_one_line) {
  EXPECT_EQ(quoted_value("a\nb"), "\"a\\nb\"");
  EXPECT_EQ(quoted_value(std::string(40, 'x')), "\"" + std::string(32, 'x') + "\"...");
}

}  // namespace
}  // namespace roentgen::data
