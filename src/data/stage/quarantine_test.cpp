// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/quarantine.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/error.h"
#include "data/source/source_testing.h"
#include "io/csv.h"

namespace roentgen::data {
namespace {

class QuarantineFile : public testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> images() const {
    const auto csv = io::read_csv(file_);
    EXPECT_TRUE(csv.ok());
    std::vector<std::string> names;
    for (const auto& row : csv.value().rows) names.push_back(row.at(0));
    return names;
  }
  // Of this test alone: the others may run at the same time.
  const TestFolder folder_;
  const std::filesystem::path file_ = folder_.path() / "quarantine.csv";
};

TEST_F(QuarantineFile, a_resumed_run_adds_only_what_is_not_in_the_file) {
  {
    Quarantine first(100, 0.5, file_);
    first.add({.sample = 3, .id = "a, quoted.png", .reason = "cut short"}, 1);
    first.add({.sample = 3, .id = "a, quoted.png", .reason = "cut short"}, 2);
  }
  Quarantine resumed(100, 0.5, file_);
  resumed.add({.sample = 3, .id = "a, quoted.png", .reason = "cut short"}, 3);
  resumed.add({.sample = 4, .id = "b.png", .reason = "no header"}, 3);
  EXPECT_EQ(resumed.count(), 2);
  EXPECT_EQ(images(), (std::vector<std::string>{"a, quoted.png", "b.png"}));
}

TEST_F(QuarantineFile, stops_beyond_the_share) {
  Quarantine quarantine(4, 0.25, file_);
  quarantine.add({.sample = 0, .id = "a.png", .reason = "cut short"}, 1);
  EXPECT_THROW(quarantine.add({.sample = 1, .id = "b.png", .reason = "cut short"}, 1), DataError);
}

TEST_F(QuarantineFile, a_folder_in_its_place_is_an_error) {
  std::filesystem::create_directory(file_);
  Quarantine quarantine(4, 1.0, file_);
  EXPECT_THROW(quarantine.add({.sample = 0, .id = "a.png", .reason = "cut short"}, 1), DataError);
}

}  // namespace
}  // namespace roentgen::data
