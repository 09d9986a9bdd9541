// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Splits from the names of several tables: table_splits(), and its use by the dataset reader csv.
#include "data/source/table_splits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/source/csv_testing.h"

namespace roentgen::data {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Split> splits_of(const std::vector<std::filesystem::path>& tables) {
  return table_splits(tables, {.root = "/no/such/folder"}).splits;
}

TEST(TableSplits, are_words_anywhere_in_a_name) {
  EXPECT_THAT(splits_of({"train.csv", "valid.csv", "test.csv.gz"}), ElementsAre(Split::Train, Split::Val, Split::Test));
  EXPECT_THAT(splits_of({"cxr.Training.tsv", "labels_validate_2.csv", "trainset.csv", "TestLabels.csv"}),
              ElementsAre(Split::Train, Split::Val, Split::Train, Split::Test));
}

TEST(TableSplits, are_those_of_folders_below_the_root_where_the_names_say_none) {
  const SourceOptions options{.root = "/test/data"};
  EXPECT_THAT(table_splits({"/test/data/train/labels.csv", "/test/data/test/labels.csv"}, options).splits,
              ElementsAre(Split::Train, Split::Test));
  EXPECT_EQ(table_splits({"/test/data/train/labels.csv", "/test/data/test/labels.csv"}, options).origin,
            "names of the tables: train/labels.csv for train, test/labels.csv for test");
  EXPECT_THAT(table_splits({"/test/data/a.csv", "/test/data/b.csv"}, options).origin, IsEmpty());
  EXPECT_THAT(table_splits({"/test/a.csv", "/train/b.csv"}, options).origin, IsEmpty());
}

TEST(TableSplits, are_drawn_where_names_tell_no_tables_apart) {
  EXPECT_THAT(splits_of({"train.csv"}), ElementsAre(Split::None));
  EXPECT_THAT(splits_of({"train_1.csv", "train_2.csv"}), Each(Split::None));
  EXPECT_THAT(splits_of({"fold1.csv", "fold2.csv", "latest.csv"}), Each(Split::None));
}

/// Three tables: train.csv with images a and b, valid.csv with c, and test.csv with d to f.
class NamedTables : public CsvSource {
 protected:
  NamedTables() {
    write("train.csv", {"a", "b"});
    write("valid.csv", {"c"});
    write("test.csv", {"d", "e", "f"});
  }
  void write(const char* name, const std::vector<std::string>& images, const std::string& split = "") {
    std::string text = split.empty() ? "path,patient,sick\n" : "path,patient,sick,split\n";
    for (const std::string& image : images) {
      text += image + ".png,p" + image + (image < "c" || image == "d" ? ",1" : ",0");
      text += split.empty() ? "\n" : "," + split + "\n";
    }
    folder_.write(name, text);
  }
  [[nodiscard]] SourceOptions wanted() const { return {.root = folder_.path(), .labels = {"sick"}}; }
  [[nodiscard]] static std::vector<std::string> test_images(const Dataset& dataset) {
    std::vector<std::string> names;
    for (const Sample& sample : dataset.samples) {
      if (sample.split == Split::Test) names.push_back(sample.id);
    }
    return names;
  }
};

TEST_F(NamedTables, give_their_rows_the_split_of_their_names) {
  const Dataset found = load_dataset(wanted());
  EXPECT_THAT(test_images(found), ElementsAre("d.png", "e.png", "f.png"));
  EXPECT_EQ(found.summary(Split::Train).images, 2);
  EXPECT_EQ(found.summary(Split::Val).images, 1);
  EXPECT_EQ(found.split_origin, "names of the tables: test.csv for test, train.csv for train, valid.csv for val");
  SourceOptions named = wanted();
  named.csv = {"train.csv", "test.csv"};
  const Dataset drawn = load_dataset(named);
  EXPECT_THAT(test_images(drawn), ElementsAre("d.png", "e.png", "f.png"));
  EXPECT_EQ(drawn.summary(Split::Val).images, 1);
  EXPECT_THAT(drawn.split_origin,
              HasSubstr("train.csv for train, test.csv for test; val: 12.5% of the other patients"));
}

TEST_F(NamedTables, are_drawn_anew_where_that_is_told) {
  SourceOptions random = wanted();
  random.split.mode = SplitMode::Random;
  const Dataset found = load_dataset(random);
  EXPECT_THAT(found.split_origin, HasSubstr("seed"));
  EXPECT_THAT(found.notes, Contains(HasSubstr("splits are random, although table names contain train, val or test")));
}

TEST_F(NamedTables, leave_the_word_to_a_column_and_to_lists) {
  for (const char* name : {"train.csv", "valid.csv", "test.csv"}) write(name, {name[0] == 't' ? "a" : "b"}, "train");
  write("train.csv", {"c"}, "test");
  write("test.csv", {"d"}, "val");
  EXPECT_THAT(test_images(load_dataset(wanted())), ElementsAre("c.png"));
  write("train.csv", {"c"}, " ");
  write("test.csv", {"d"}, " ");
  write("valid.csv", {"b"}, " ");
  EXPECT_THAT(test_images(load_dataset(wanted())), ElementsAre("d.png")) << "a column without a word";
  folder_.write("test_list.txt", "b.png\n");
  EXPECT_THAT(test_images(load_dataset(wanted())), ElementsAre("b.png"));
}

TEST_F(NamedTables, are_refused_where_a_name_says_no_split_or_two) {
  folder_.write("more.csv", "path,patient,sick\na.png,pa,1\n");
  EXPECT_THAT(refusal(wanted()),
              HasSubstr("[data.csv] names of the tables: expected one split (train, val or test) in every name, or in "
                        "none, got more.csv "
                        "for none, test.csv for test, train.csv for train, valid.csv for val; try --set data.csv=FILE "
                        "to read one table, or --set data.split=random for new splits"));
  SourceOptions named = wanted();
  named.split.test_fraction = 0.0;
  folder_.write("train_val.csv", "path,patient,sick\na.png,pa,1\n");
  named.csv = {"train_val.csv", "test.csv"};
  EXPECT_THAT(refusal(named), HasSubstr("got train_val.csv for train and val, test.csv for test"));
  named.csv = {"train.csv"};
  EXPECT_EQ(load_dataset(named).samples.size(), 2U);
}

TEST_F(NamedTables, with_one_patient_in_two_of_them_are_refused) {
  folder_.write("test.csv", "path,patient,sick\nd.png,pa,1\n");
  EXPECT_THAT(refusal(wanted()), HasSubstr("each patient in only one split"));
}

TEST_F(NamedTables, propose_labels_of_all_their_rows) {
  folder_.write("test.csv", "path,patient,sick\nd.png,pd,0\n");
  SourceOptions asked = wanted();
  asked.labels.clear();
  asked.unnamed_labels = UnnamedLabels::Propose;
  EXPECT_THAT(load_dataset(asked).label_names, ElementsAre("sick")) << "test.csv, which comes first, has no positive";
}

}  // namespace
}  // namespace roentgen::data
