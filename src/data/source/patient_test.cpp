// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/patient.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"
#include "data/source/source.h"
#include "data/source/source_testing.h"

namespace roentgen::data {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

TEST(Patient, has_one_form_for_all_spellings_of_a_number) {
  for (const char* text : {"12", "12.0", " 12.00 ", "12.", "12,0", "12\xC2\xA0", " \xC2\xA0 12.0"})
    EXPECT_EQ(normal_patient(text), "12") << text;
  for (const char* text : {"0012", "12.5", "P12", "1.2.840.0", "12,5", "p.0", "-1.0"})
    EXPECT_EQ(normal_patient(text), text);
  for (const char* text : {"", " ", "nan", "NaN", "None", "null", "N/A", "<NA>", "unknown"}) {
    EXPECT_EQ(normal_patient(text), "") << text;
  }
}

TEST(Patient, is_looked_for_with_a_decimal_part_and_with_leading_zeros) {
  EXPECT_THAT(same_patient_spellings("12"), ElementsAre("12.0"));
  EXPECT_TRUE(same_patient_spellings("P12").empty());
  EXPECT_THAT(leading_zero_spellings("012"), testing::AllOf(Contains("12"), Contains("0012"), Not(Contains("012"))));
  EXPECT_THAT(leading_zero_spellings("0"), testing::AllOf(Contains("00"), Not(Contains("0"))));
  EXPECT_THAT(leading_zero_spellings("1"),
              testing::AllOf(Contains("000000000000001"), Contains("0001.0"), Contains(std::string(63, '0') + "1")));
  EXPECT_TRUE(leading_zero_spellings("P12").empty());
}

TEST(Patient, is_counted_where_blank_unless_all_are) {
  Listing listing;
  listing.samples = {{.patient = ""}, {.patient = " "}, {.patient = "12"}};
  settle_patients(listing);
  EXPECT_THAT(listing.notes, ElementsAre("images with unknown patient (blank, nan, none or similar): 2"));
  Listing blank;
  blank.samples = {{.patient = ""}, {.patient = ""}};
  settle_patients(blank);
  EXPECT_TRUE(blank.notes.empty()) << "the summary says so";
}

TEST(Patient, is_refused_where_a_spreadsheet_rounded_several_numbers) {
  for (const char* text : {"1,2345E+12", "1.23457e+12", "1E+12"}) {
    Listing listing{.csv = {"t.csv"}};
    listing.samples = {{.patient = text}, {.patient = "7"}};
    EXPECT_NO_THROW(settle_patients(listing)) << "a single one merges nothing";
    listing.samples.push_back({.patient = text});
    EXPECT_THAT(
        message_of<DataError>([&] { settle_patients(listing); }),
        testing::AllOf(testing::HasSubstr("[data.patient] t.csv: expected whole patient numbers, got numbers "
                                          "like 1.23E+12 for 2 images"),
                       testing::HasSubstr("try formatting that column as text"), Not(testing::HasSubstr(text))));
  }
  Listing others;
  others.samples = {
      {.patient = "2E10"}, {.patient = "2E10"}, {.patient = "1.5"}, {.patient = "P1E+2"}, {.patient = "E+"}};
  EXPECT_NO_THROW(settle_patients(others));
}

TEST(Patient, hashes_of_a_set_hold_all_spellings_of_each) {
  Dataset trained{.patient_namespace = "ours"}, tested{.patient_namespace = "ours"};
  trained.samples = {{.patient = "12.0", .split = Split::Train}, {.patient = "0007", .split = Split::Train}};
  Listing listing;
  listing.samples = {{.patient = "12"}, {.patient = "7"}, {.patient = "8"}, {.patient = "nan"}};
  settle_patients(listing);
  tested.samples = listing.samples;
  const std::vector<std::string> known = patient_hashes(trained, Split::Train, "salt");  // hashes of an old checkpoint
  const auto spellings = patient_spellings(tested, {0, 1, 2, 3}, "salt");
  ASSERT_EQ(spellings.size(), 3U);
  const auto is_known = [&known](const std::vector<std::string>& hashes) {
    return std::ranges::any_of(hashes, [&](const auto& hash) { return std::ranges::count(known, hash) > 0; });
  };
  EXPECT_TRUE(is_known(spellings[0].same));
  EXPECT_FALSE(is_known(spellings[1].same));
  EXPECT_TRUE(is_known(spellings[1].zeros));
  EXPECT_FALSE(is_known(spellings[2].same) || is_known(spellings[2].zeros));
}

}  // namespace
}  // namespace roentgen::data
