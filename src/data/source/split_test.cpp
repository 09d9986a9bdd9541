// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Assignment to train, val and test: lists, columns, random splits by patient, and refusals.
#include "data/source/split.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/error.h"
#include "data/source/source_testing.h"
#include "io/sha256.h"

namespace roentgen::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Data set with `patients` patients of three images each: labels.csv and images 0_0.png, 0_1.png, ...
class Splits : public testing::Test {
 protected:
  void make(int patients, std::string_view patient_column = "patient") {
    std::string csv = fmt::format("path,{},sick\n", patient_column);
    for (int patient = 0; patient < patients; ++patient) {
      for (int image = 0; image < 3; ++image) {
        const std::string name = fmt::format("{}_{}.png", patient, image);
        folder_.write(name, "");
        csv += fmt::format("{},P{},{}\n", name, patient, patient % 2);
      }
    }
    folder_.write("labels.csv", csv);
  }
  SourceOptions options(SplitMode mode = SplitMode::Auto) {
    SourceOptions options;
    options.root = folder_.path();
    options.labels = {"sick"};
    options.split.mode = mode;
    return options;
  }
  std::string refusal(const SourceOptions& options) {
    return message_of<DataError>([&] { static_cast<void>(load_dataset(options)); });
  }
  static std::int64_t images(const Dataset& dataset, Split split) { return dataset.summary(split).images; }
  TestFolder folder_;
};

void expect_no_shared_patient(const Dataset& dataset) {
  std::map<std::string, std::set<Split>> sides;
  for (const auto& sample : dataset.samples) sides[sample.patient].insert(sample.split);
  for (const auto& [patient, splits] : sides) EXPECT_EQ(splits.size(), 1U);
}

TEST_F(Splits, draws_patients_near_the_fractions_and_shares_none) {
  make(400);
  const auto dataset = load_dataset(options());
  expect_no_shared_patient(dataset);
  // Tolerance for 400 draws: three standard deviations of a binomial are 24 patients at 20%, and 18 at 12.5% of the
  // rest.
  EXPECT_NEAR(static_cast<double>(dataset.summary(Split::Test).patients), 80, 24);
  EXPECT_NEAR(static_cast<double>(dataset.summary(Split::Val).patients), 40, 18);
  EXPECT_EQ(images(dataset, Split::None), 0);
  EXPECT_EQ(dataset.split_origin, "test: 20% of the patients, seed 0; val: 12.5% of the other patients, seed 0");
}

TEST_F(Splits, are_drawn_by_the_normal_form_of_a_patient_or_by_the_spelling_of_old_checkpoints) {
  std::string csv = "path,patient,sick\n";
  for (int patient = 0; patient < 40; ++patient) {
    const std::string name = fmt::format("{}.png", patient);
    folder_.write(name, "");
    csv += fmt::format("{},{}.0,{}\n", name, patient, patient % 2);
  }
  folder_.write("labels.csv", csv);
  const auto drawn_by = [this](SplitRule rule) {
    SourceOptions asked = options();
    set_split_rule(asked, rule);
    std::vector<Split> splits;
    for (const Sample& sample : load_dataset(asked).samples) splits.push_back(sample.split);
    return splits;
  };
  const auto expect_drawn = [](const std::vector<Split>& splits, std::string_view spelling) {
    for (std::size_t i = 0; i < splits.size(); ++i) {
      const bool is_test = split_draw("test", 0, "csv", fmt::format("{}{}", i, spelling)) < 0.2;
      EXPECT_EQ(splits[i] == Split::Test, is_test) << i << spelling;
    }
  };
  expect_drawn(drawn_by(SplitRule::Normal), "");
  expect_drawn(drawn_by(SplitRule::Written), ".0");

  csv += "again.png,3,1\n";
  folder_.write("again.png", "");
  folder_.write("labels.csv", csv);
  SourceOptions asked = options();
  asked.split.test_fraction = 0.5;
  set_split_rule(asked, SplitRule::Written);
  bool is_refused = false;
  for (asked.split.seed = 0; asked.split.seed < 8 && !is_refused; ++asked.split.seed) {
    try {
      static_cast<void>(load_dataset(asked));
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr("the split of this model treats 12 and 12.0 as two patients"));
      is_refused = true;
    }
  }
  EXPECT_TRUE(is_refused) << "3 and 3.0 fall on two sides with one of eight seeds";
}

TEST_F(Splits, draws_the_same_again_and_otherwise_with_another_seed) {
  make(60);
  auto wanted = options();
  const auto one = load_dataset(wanted);
  const auto two = load_dataset(wanted);
  EXPECT_EQ(samples_of(one, Split::Test), samples_of(two, Split::Test));
  wanted.split.seed = 1;
  EXPECT_NE(samples_of(one, Split::Test), samples_of(load_dataset(wanted), Split::Test));
}

TEST_F(Splits, keep_a_patients_side_when_the_data_set_grows) {
  make(60);
  const auto small = load_dataset(options());
  make(90);
  const auto large = load_dataset(options());
  for (std::size_t i = 0; i < small.samples.size(); ++i) EXPECT_EQ(small.samples[i].split, large.samples[i].split);
}

TEST_F(Splits, leave_no_side_empty) {
  make(3);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto wanted = options();
    wanted.split.seed = seed;
    wanted.split.test_fraction = 0.01;
    wanted.split.val_fraction = 0.99;
    const auto dataset = load_dataset(wanted);
    for (const Split split : {Split::Train, Split::Val, Split::Test}) {
      EXPECT_EQ(dataset.summary(split).patients, 1) << name_of(split) << " seed " << seed;
    }
  }
}

TEST_F(Splits, refuse_to_draw_one_patient) {
  make(1);
  EXPECT_THAT(refusal(options()), HasSubstr("at least 2 patients"));
}

TEST_F(Splits, refuse_to_draw_where_patients_are_unknown) {
  make(5, "something");
  EXPECT_THAT(refusal(options()), testing::AllOf(HasSubstr("15 of 15 images without"), HasSubstr("split_unit")));
}

TEST_F(Splits, draw_by_image_when_told) {
  make(30, "something");
  auto wanted = options();
  wanted.split.unit = SplitUnit::Image;
  const auto dataset = load_dataset(wanted);
  EXPECT_GT(images(dataset, Split::Test), 0);
  EXPECT_GT(images(dataset, Split::Val), 0);
}

TEST_F(Splits, still_draw_by_patient_where_known_when_images_are_allowed) {
  make(30);
  auto wanted = options();
  wanted.split.unit = SplitUnit::Image;
  expect_no_shared_patient(load_dataset(wanted));
}

TEST_F(Splits, take_nihs_lists_and_draw_validation_from_train_val) {
  make(10);
  folder_.write("test_list.txt", "0_0.png\n0_1.png\n0_2.png\n");
  std::string rest;
  for (int patient = 1; patient < 10; ++patient) rest += fmt::format("{}_0.png\n{}_1.png\r\n\n", patient, patient);
  folder_.write("train_val_list.txt", rest);
  const auto dataset = load_dataset(options());
  EXPECT_THAT(samples_of(dataset, Split::Test), ElementsAre(0, 1, 2));
  EXPECT_EQ(images(dataset, Split::Train) + images(dataset, Split::Val), 18);
  EXPECT_GE(images(dataset, Split::Val), 2);
  EXPECT_EQ(images(dataset, Split::None), 9);
  expect_no_shared_patient([&] {
    Dataset listed = dataset;
    std::erase_if(listed.samples, [](const Sample& sample) { return sample.split == Split::None; });
    return listed;
  }());
}

TEST_F(Splits, take_val_out_of_train_val_when_both_are_listed) {
  make(4);
  folder_.write("train_val_list.txt", "0_0.png\n1_0.png\n2_0.png\n");
  folder_.write("val_list.txt", "2_0.png\n");
  folder_.write("test_list.txt", "3_0.png\n");
  const auto dataset = load_dataset(options());
  EXPECT_THAT(samples_of(dataset, Split::Train), ElementsAre(0, 3));
  EXPECT_THAT(samples_of(dataset, Split::Val), ElementsAre(6));
  EXPECT_EQ(dataset.split_origin, "test: test_list.txt; val: val_list.txt; train: train_val_list.txt");
}

TEST_F(Splits, train_on_the_others_when_only_test_is_listed) {
  make(4);
  auto wanted = options();
  folder_.write("mine.txt", "3_0.png\n3_1.png\n3_2.png\n");
  wanted.split.test_list = "mine.txt";
  wanted.split.validation = ValidationFrom::None;
  const auto dataset = load_dataset(wanted);
  EXPECT_EQ(images(dataset, Split::Train), 9);
  EXPECT_EQ(images(dataset, Split::Val), 0);
}

TEST_F(Splits, merge_validation_into_train_when_told) {
  make(4);
  folder_.write("train_list.txt", "0_0.png\n1_0.png\n");
  folder_.write("val_list.txt", "2_0.png\n");
  auto wanted = options();
  wanted.split.validation = ValidationFrom::None;
  EXPECT_EQ(images(load_dataset(wanted), Split::Train), 3);
}

TEST_F(Splits, hash_each_list_as_its_sorted_names) {
  make(4);
  folder_.write("train_list.txt", "1_0.png\n0_0.png\n");
  folder_.write("val_list.txt", "2_0.png\n");
  const auto dataset = load_dataset(options());
  EXPECT_EQ(dataset.summary(Split::Train).list_sha256, io::sha256_hex(std::string_view("0_0.png\n1_0.png\n")));
  EXPECT_EQ(dataset.summary(Split::Test).list_sha256, "");
}

TEST_F(Splits, refuse_a_patient_in_two_lists_without_naming_him) {
  make(4);
  folder_.write("train_list.txt", "0_0.png\n1_0.png\n");
  folder_.write("test_list.txt", "1_1.png\n");
  auto wanted = options();
  wanted.split.validation = ValidationFrom::None;
  const auto message = refusal(wanted);
  EXPECT_THAT(message, HasSubstr("1 of 2 patients in two or more"));
  EXPECT_THAT(message, testing::Not(HasSubstr("P1")));
}

TEST_F(Splits, refuse_an_image_in_two_lists) {
  make(4);
  folder_.write("train_list.txt", "0_0.png\n1_0.png\n");
  folder_.write("test_list.txt", "1_0.png\n");
  EXPECT_THAT(refusal(options()), HasSubstr("1_0.png in the test list too"));
}

TEST_F(Splits, note_names_that_are_not_in_the_data_set) {
  make(4);
  folder_.write("train_list.txt", "0_0.png\nzzz.png\n");
  folder_.write("val_list.txt", "1_0.png\n");
  EXPECT_THAT(load_dataset(options()).notes, ElementsAre("train_list.txt: 1 of 2 names are not in this data set"));
}

TEST_F(Splits, refuse_a_list_of_which_no_name_is_known) {
  make(4);
  folder_.write("train_list.txt", "zzz.png\n");
  EXPECT_THAT(refusal(options()), HasSubstr("got only unknown names (the first is zzz.png)"));
}

TEST_F(Splits, refuse_lists_that_are_empty_absent_or_repeat_a_name) {
  make(4);
  auto wanted = options();
  wanted.split.test_list = folder_.write("empty.txt", "\n\n");
  EXPECT_THAT(refusal(wanted), HasSubstr("empty.txt"));
  wanted.split.test_list = "absent.txt";
  EXPECT_THAT(refusal(wanted), HasSubstr("absent.txt"));
  wanted.split.test_list = folder_.write("twice.txt", "0_0.png\n0_0.png\n");
  EXPECT_THAT(refusal(wanted), HasSubstr("twice.txt line 2"));
  wanted.split.test_list = folder_.write("marks.txt", "0_0.png 0 2\n");
  EXPECT_THAT(refusal(wanted), HasSubstr("expected 0 or 1"));
}

TEST_F(Splits, refuse_when_lists_are_demanded_and_there_are_none) {
  make(4);
  EXPECT_THAT(refusal(options(SplitMode::Given)), HasSubstr("neither"));
}

TEST_F(Splits, ignore_lists_when_random_is_demanded) {
  make(20);
  folder_.write("train_list.txt", "0_0.png\n");
  EXPECT_EQ(images(load_dataset(options(SplitMode::Random)), Split::None), 0);
}

TEST_F(Splits, refuse_a_fraction_of_one) {
  make(4);
  auto wanted = options();
  wanted.split.val_fraction = 1.0;
  EXPECT_THAT(message_of<ConfigError>([&] { static_cast<void>(load_dataset(wanted)); }), HasSubstr("val_fraction"));
}

TEST(SplitDraw, is_a_published_function_of_its_arguments) {
  const std::string hash = io::sha256_hex(std::string_view("roentgen val\n7\nnih\n42"));
  const double expected = static_cast<double>(std::stoull(hash.substr(0, 13), nullptr, 16)) / 4503599627370496.0;
  EXPECT_EQ(split_draw("val", 7, "nih", "42"), expected);
}

TEST_F(Splits, hash_patients_by_salt_and_namespace) {
  make(4);
  auto wanted = options(SplitMode::Whole);
  wanted.patient_namespace = "here";
  const auto dataset = load_dataset(wanted);
  const auto hashes = patient_hashes(dataset, Split::Test, "salt");
  ASSERT_EQ(hashes.size(), 4U);
  EXPECT_TRUE(std::is_sorted(hashes.begin(), hashes.end()));
  EXPECT_THAT(hashes, testing::Contains(io::sha256_hex(std::string_view("salt\nhere\nP2")).substr(0, 16)));
  EXPECT_TRUE(patient_hashes(dataset, Split::Train, "salt").empty());
  EXPECT_THAT(patient_hashes(dataset, Split::Test, "other"), testing::Not(testing::ElementsAreArray(hashes)));
}

TEST_F(Splits, hash_one_patient_per_sample) {
  make(2);
  const auto dataset = load_dataset(options(SplitMode::Whole));
  const auto hashes = sample_patient_hashes(dataset, {0, 1, 3}, "salt");
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_NE(hashes[0], hashes[2]);
}

TEST(SplitColumns, that_are_not_read_are_named) {
  const auto notes = [](std::string_view csv) {
    const TestFolder folder;
    for (const char* name : {"a.png", "b.png"}) folder.write(name, "x");
    folder.write("labels.csv", csv);
    return load_dataset({.root = folder.path(), .labels = {"sick"}, .split = {.mode = SplitMode::Whole}}).notes;
  };
  EXPECT_THAT(
      notes("path,sick,Fold\na.png,1,train\nb.png,1,Test\n"),
      testing::Contains("labels.csv: column Fold contains train, val or test in 2 rows and is not read; rename it "
                        "\"split\""));
  for (const char* table :
       {"path,sick,fold\na.png,1,1\nb.png,1,test\n", "path,sick,set,split\na.png,1,test,train\nb.png,1,test,test\n"}) {
    EXPECT_THAT(notes(table), testing::Not(testing::Contains(HasSubstr("contains train")))) << table;
  }
}

TEST(SplitFolders, are_named_where_splits_are_drawn) {
  const TestFolder folder;
  std::string table = "path,sick,patient\n";
  for (int i = 0; i < 8; ++i) {
    const std::string name = fmt::format("{}/a/{}.png", i < 5 ? "train" : "Test", i);
    folder.write(name, "x");
    table += fmt::format("{},{},p{}\n", name, i % 2, i);
  }
  folder.write("labels.csv", table);
  SourceOptions options{.root = folder.path(), .labels = {"sick"}};
  constexpr const char* kNote = "images in folders called val, test or similar, which are not read as splits: 3";
  EXPECT_THAT(load_dataset(options).notes, testing::Contains(kNote));
  options.split.mode = SplitMode::Random;
  EXPECT_THAT(load_dataset(options).notes, testing::Not(testing::Contains(kNote)));
}

}  // namespace
}  // namespace roentgen::data
