// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/name_index.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace roentgen::data {
namespace {

NameIndex index_of(std::initializer_list<std::string_view> names) {
  NameIndex index;
  std::size_t row = 0;
  for (const std::string_view name : names) index.add(name, row++);
  return index;
}

constexpr std::string_view kSecond = "CheXpert-v1.0/train/patient2/study1/view1_frontal.jpg";

NameIndex chexpert() {
  return index_of({"CheXpert-v1.0/train/patient1/study1/view1_frontal.jpg", kSecond,
                   "CheXpert-v1.0/train/patient2/study3/view1_frontal.jpg",
                   "CheXpert-v1.0/train/patient2/study1/view2_lateral.jpg"});
}

TEST(NameIndex, finds_a_name_by_the_end_of_its_path) {
  const NameIndex index = chexpert();
  for (const auto find : {&NameIndex::find, &NameIndex::find_ending}) {
    EXPECT_EQ((index.*find)(kSecond), 1U);
    EXPECT_EQ((index.*find)("train/patient2/study1/view1_frontal.jpg"), 1U) << "a walk that began in the folder";
    EXPECT_EQ((index.*find)("/data/CheXpert-v1.0/train/patient2/study1/view1_frontal.jpg"), 1U);
    EXPECT_EQ((index.*find)("./train//patient2/study1/./view1_frontal.jpg"), 1U);
  }
}

TEST(NameIndex, refuses_an_end_that_two_names_have) {
  const NameIndex index = chexpert();
  EXPECT_EQ(index.find("view1_frontal.jpg"), std::nullopt);
  EXPECT_EQ(index.find("study1/view1_frontal.jpg"), std::nullopt);
  EXPECT_EQ(index.find(""), std::nullopt);
}

// Study 3 of patient 1 does not exist. No other image may match, even if only one other patient has a study 3.
TEST(NameIndex, takes_no_other_patients_image) {
  const NameIndex index = chexpert();
  EXPECT_EQ(index.find("CheXpert-v1.0/train/patient1/study3/view1_frontal.jpg"), std::nullopt);
  EXPECT_EQ(index.find("valid/patient3/study1/view2_lateral.jpg"), std::nullopt);
}

TEST(NameIndex, passes_over_folders_of_other_names_for_places_alone) {
  const NameIndex index = chexpert();
  EXPECT_EQ(index.find("cx/train/patient2/study1/view1_frontal.jpg"), 1U);
  EXPECT_EQ(index.find_ending("cx/train/patient2/study1/view1_frontal.jpg"), std::nullopt);
  const NameIndex flat = index_of({"images/a.png", "images/b.png"});
  EXPECT_EQ(flat.find("png/b.png"), 1U);
  EXPECT_EQ(flat.find_ending("png/b.png"), std::nullopt);
}

TEST(NameIndex, prefers_the_whole_name_and_then_the_longest) {
  const NameIndex index = index_of({"a.png", "x/a.png", "y/x/a.png"});
  EXPECT_EQ(index.find("a.png"), 0U);
  EXPECT_EQ(index.find("x/a.png"), 1U);
  EXPECT_EQ(index.find("z/x/a.png"), 1U);
  EXPECT_EQ(index.find("z/a.png"), 0U);
  EXPECT_EQ(index.find("ya.png"), std::nullopt) << "part by part, not letter by letter";
}

TEST(NameIndex, keeps_the_first_of_a_name) {
  NameIndex index;
  EXPECT_TRUE(index.add("im/a.png", 0));
  EXPECT_FALSE(index.add("./im/a.png", 1));
  EXPECT_EQ(index.find("im/a.png"), 0U);
}

}  // namespace
}  // namespace roentgen::data
