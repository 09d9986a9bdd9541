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
  // A separate folder, because other tests may run at the same time.
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

TEST_F(QuarantineFile, counts_and_names_what_others_have_found) {
  Quarantine own(100, 0.03, file_);
  own.add({.sample = 3, .id = "a.png", .reason = "cut short"}, 1);
  Quarantine other(100, 0.03, {});
  other.add({.sample = 3, .id = "a.png", .reason = "cut short"}, 1);
  other.add({.sample = 4, .id = "b.png", .reason = "no header"}, 2);
  const std::vector<FoundBad> found = other.take_found();
  EXPECT_EQ(found.size(), 2U);
  EXPECT_TRUE(other.take_found().empty()) << "told once";
  own.unite(found);
  EXPECT_EQ(own.samples(), (std::vector<std::uint32_t>{3, 4}));
  EXPECT_EQ(own.take_found().size(), 1U) << "its own alone";
  EXPECT_THROW(own.unite({{.bad = {.sample = 5, .id = "c.png", .reason = "cut short"}, .epoch = 2},
                          {.bad = {.sample = 6, .id = "d.png", .reason = "cut short"}, .epoch = 2}}),
               DataError);
  EXPECT_EQ(images(), (std::vector<std::string>{"a.png", "b.png", "c.png", "d.png"})) << "all are named all the same";
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
