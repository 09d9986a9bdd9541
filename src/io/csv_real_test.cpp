// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The csv files of real data sets, as published.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "io/csv.h"

namespace roentgen::io {
namespace {
/// Folder of real data; empty when there is none.
std::filesystem::path data_folder() {
  const char* given = std::getenv("ROENTGEN_TEST_DATA");
  const char* source = std::getenv("ROENTGEN_SOURCE_DIR");
  const std::filesystem::path folder =
      given != nullptr ? std::filesystem::path(given)
                       : std::filesystem::path(source != nullptr ? source : ".") / ".." / "shared" / "data";
  return std::filesystem::exists(folder / "INDEX.md") ? folder : std::filesystem::path();
}

TEST(CsvReal, nih_labels_have_11_fields_in_header_and_rows) {
  const std::filesystem::path folder = data_folder();
  if (folder.empty()) GTEST_SKIP() << "NOT TESTED: no real data; set ROENTGEN_TEST_DATA";
  const Csv csv = read_csv(folder / "nih" / "labels.csv").or_throw();
  EXPECT_EQ(csv.header.size(), 11U);
  EXPECT_EQ(csv.column("Finding Labels"), 1U);
  EXPECT_GT(csv.rows.size(), 1'000U);
  for (std::size_t i = 0; i < csv.rows.size(); ++i) {
    ASSERT_EQ(csv.rows[i].size(), 11U) << "line " << csv.lines[i];
    ASSERT_EQ(csv.rows[i][0].size(), 16U) << "line " << csv.lines[i];
  }
}

TEST(CsvReal, nih_boxes_have_a_header_that_is_ragged) {
  const std::filesystem::path folder = data_folder();
  if (folder.empty()) GTEST_SKIP() << "NOT TESTED: no real data; set ROENTGEN_TEST_DATA";
  const Csv csv = read_csv(folder / "nih" / "extra" / "bbox.csv").or_throw();
  EXPECT_EQ(csv.header.size(), 9U);
  for (const auto& row : csv.rows) ASSERT_EQ(row.size(), 6U);
}

TEST(CsvReal, kermany_labels_have_a_row_an_image) {
  const std::filesystem::path folder = data_folder();
  if (folder.empty()) GTEST_SKIP() << "NOT TESTED: no real data; set ROENTGEN_TEST_DATA";
  const Csv csv = read_csv(folder / "kermany" / "labels.csv").or_throw();
  EXPECT_EQ(csv.rows.size(), 5'216U);
  for (const char* name : {"file", "pneumonia", "patient", "split"}) EXPECT_TRUE(csv.column(name)) << name;
}
}  // namespace
}  // namespace roentgen::io
