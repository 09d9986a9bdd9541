// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Sources on real data sets. Expected counts come from the test data's index and from Python's csv module on the same
// files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/error.h"
#include "data/source/dataset.h"
#include "data/source/source_testing.h"

namespace roentgen::data {
namespace {

using testing::HasSubstr;

class SourceReal : public RealDataTest {
 protected:
  static SourceOptions nih(std::vector<std::filesystem::path> images) {
    SourceOptions options;
    options.root = real_data() / "nih";
    options.images = std::move(images);
    return options;
  }
  static SourceOptions kermany() {
    SourceOptions options;
    options.root = real_data() / "kermany";
    options.labels = {"pneumonia"};
    return options;
  }
  static std::int64_t shared_patients(const Dataset& dataset, Split a, Split b) {
    const auto first = patient_hashes(dataset, a, "salt");
    const auto second = patient_hashes(dataset, b, "salt");
    const std::set<std::string> known(first.begin(), first.end());
    return std::count_if(second.begin(), second.end(), [&](const std::string& hash) { return known.contains(hash); });
  }
};

TEST_F(SourceReal, nih_lists_give_1061_and_323_images_of_other_patients) {
  const auto dataset = load_dataset(nih({"png128"}));
  EXPECT_EQ(dataset.source, "nih");
  EXPECT_EQ(dataset.samples.size(), 1384U);
  EXPECT_EQ(dataset.csv_sha256.front(), "5e3112d10f6e37c951c4e9017e4f1115e863716b8818fe1b497a3174e9e14a7f");
  const auto& train = dataset.summary(Split::Train);
  const auto& val = dataset.summary(Split::Val);
  EXPECT_EQ(train.images, 1061);
  EXPECT_EQ(train.patients, 861);
  EXPECT_EQ(train.list_sha256, "f9a29a144393a090f6add593c8a34f5c68bbae0b324fcc1310a40ece4819de57");
  EXPECT_EQ(val.images, 323);
  EXPECT_EQ(val.patients, 236);
  EXPECT_EQ(val.list_sha256, "c9c0645cb69ba8693b4db9709edb77cb50ca326ef29a1869404c6e21d304b1e7");
  EXPECT_EQ(dataset.summary(Split::None).images, 0);
  EXPECT_EQ(shared_patients(dataset, Split::Train, Split::Val), 0);
}

TEST_F(SourceReal, nih_positives_are_those_of_the_csv) {
  const auto dataset = load_dataset(nih({"png128"}));
  const std::vector<std::int64_t> expected{168, 68, 152, 262, 75, 99, 392, 54, 102, 100, 41, 56, 75, 20};
  for (std::size_t k = 0; k < expected.size(); ++k) {
    std::int64_t positives = 0;
    for (const Split split : kSplits) positives += dataset.summary(split).labels[k].positives;
    EXPECT_EQ(positives, expected[k]) << dataset.label_names[k];
  }
}

TEST_F(SourceReal, nih_view_and_sex_are_labels) {
  auto options = nih({"png128"});
  options.labels = {"View:AP", "Sex:M"};
  const auto dataset = load_dataset(options);
  EXPECT_EQ(dataset.summary(Split::Train).labels[0].positives, 433);
  EXPECT_EQ(dataset.summary(Split::Train).labels[1].positives, 582);
  EXPECT_EQ(dataset.summary(Split::Val).labels[0].positives, 139);
  EXPECT_EQ(dataset.summary(Split::Val).labels[1].positives, 160);
}

TEST_F(SourceReal, nih_folders_with_the_same_names_are_refused_until_one_is_chosen) {
  const auto message = message_of<DataError>([] { static_cast<void>(load_dataset(nih({}))); });
  EXPECT_THAT(message, testing::AllOf(HasSubstr("in two folders"), HasSubstr("data.images")));
}

TEST_F(SourceReal, nih_two_tables_and_folders_join_by_patient) {
  auto options = nih({"png128", "png64"});
  options.csv = {"labels.csv", "labels_64.csv"};
  options.labels = {"View:AP", "Sex:M"};
  options.duplicates = Duplicates::First;
  options.split.mode = SplitMode::Random;
  const auto dataset = load_dataset(options);
  EXPECT_EQ(dataset.samples.size(), 2050U);
  const std::int64_t patients = dataset.summary(Split::Train).patients + dataset.summary(Split::Val).patients +
                                dataset.summary(Split::Test).patients;
  EXPECT_EQ(patients, 1290);  // each patient is in one split only
  EXPECT_EQ(shared_patients(dataset, Split::Train, Split::Val), 0);
  EXPECT_EQ(shared_patients(dataset, Split::Train, Split::Test), 0);
}

TEST_F(SourceReal, nih_originals_are_79_of_the_rows) {
  auto options = nih({"png"});
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(load_dataset(options)); }),
              HasSubstr("1305 of 1384 missing"));
  options.absent = Absent::Skip;
  EXPECT_EQ(load_dataset(options).samples.size(), 79U);
}

TEST_F(SourceReal, kermany_has_4431_and_785_images_of_other_patients) {
  const auto dataset = load_dataset(kermany());
  EXPECT_EQ(dataset.source, "csv");
  const auto& train = dataset.summary(Split::Train);
  const auto& val = dataset.summary(Split::Val);
  EXPECT_EQ(train.images, 4431);
  EXPECT_EQ(train.patients, 2416);
  EXPECT_EQ(train.labels[0].positives, 2127 + 1167);
  EXPECT_EQ(val.images, 785);
  EXPECT_EQ(val.patients, 430);
  EXPECT_EQ(val.labels[0].positives, 403 + 178);
  EXPECT_EQ(shared_patients(dataset, Split::Train, Split::Val), 0);
}

TEST_F(SourceReal, kermany_causes_are_labels_by_value) {
  auto options = kermany();
  options.labels = {"etiology:none", "etiology:bacteria", "etiology:virus"};
  const auto dataset = load_dataset(options);
  EXPECT_EQ(dataset.summary(Split::Train).labels[0].positives, 1137);
  EXPECT_EQ(dataset.summary(Split::Train).labels[1].positives, 2127);
  EXPECT_EQ(dataset.summary(Split::Val).labels[2].positives, 178);
}

}  // namespace
}  // namespace roentgen::data
