// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The csv files of real data sets, as published.
#include <gtest/gtest.h>

#include <filesystem>

#include "io/csv.h"
#include "io/io_testing.h"

namespace roentgen::io {
namespace {

using testing::real_data;

class CsvReal : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::is_directory(real_data())) {
      GTEST_SKIP() << "NO REAL DATA at " << real_data() << ": NOTHING TESTED";
    }
  }
};

TEST_F(CsvReal, nih_labels_have_11_fields_in_header_and_rows) {
  const Csv csv = read_csv(real_data() / "nih" / "labels.csv").or_throw();
  EXPECT_EQ(csv.header.size(), 11U);
  EXPECT_EQ(csv.column("Finding Labels"), 1U);
  EXPECT_GT(csv.rows.size(), 1'000U);
  for (std::size_t i = 0; i < csv.rows.size(); ++i) {
    ASSERT_EQ(csv.rows[i].size(), 11U) << "line " << csv.lines[i];
    ASSERT_EQ(csv.rows[i][0].size(), 16U) << "line " << csv.lines[i];
  }
}

TEST_F(CsvReal, nih_boxes_have_a_header_that_is_ragged) {
  const Csv csv = read_csv(real_data() / "nih" / "extra" / "bbox.csv").or_throw();
  EXPECT_EQ(csv.header.size(), 9U);
  for (const auto& row : csv.rows) ASSERT_EQ(row.size(), 6U);
}

TEST_F(CsvReal, kermany_labels_have_a_row_an_image) {
  const Csv csv = read_csv(real_data() / "kermany" / "labels.csv").or_throw();
  EXPECT_EQ(csv.rows.size(), 5'216U);
  for (const char* name : {"file", "pneumonia", "patient", "split"}) EXPECT_TRUE(csv.column(name)) << name;
}
}  // namespace
}  // namespace roentgen::io
