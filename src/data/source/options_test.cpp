// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "data/source/describe.h"
#include "data/source/source_testing.h"

namespace roentgen::data {
namespace {

using testing::HasSubstr;

Value table_of(std::string_view key, Value value) {
  Value table = Value::table();
  table.set(key, std::move(value));
  return table;
}

std::string refusal(const Value& table) {
  return message_of<ConfigError>([&] { static_cast<void>(source_options_from_value(table, "/data")); });
}

TEST(SourceOptions, default_from_an_empty_table) {
  const auto options = source_options_from_value(Value::table(), "/data");
  EXPECT_EQ(options.root, "/data");
  EXPECT_EQ(options.source, "auto");
  EXPECT_EQ(options.split.val_fraction, 0.125);
}

TEST(SourceOptions, survive_the_way_to_a_value_and_back) {
  SourceOptions options;
  options.source = "csv";
  options.csv = {"a.csv", "b.csv"};
  options.image = "Bild";
  options.patient = "MRN";
  options.images = {"png"};
  options.labels = {"Mass", "View:AP"};
  options.policy = {.blank = Blank::Negative, .uncertain = Uncertain::Zero};
  options.label_policies = {{"Mass", {.blank = Blank::Unknown, .uncertain = Uncertain::One}}};
  options.views = {"frontal"};
  options.absent = Absent::Skip;
  options.duplicates = Duplicates::First;
  options.split = {.mode = SplitMode::Random,
                   .validation = ValidationFrom::Part,
                   .unit = SplitUnit::Image,
                   .test_fraction = 0.1,
                   .val_fraction = 0.3,
                   .seed = 9,
                   .train_val_list = "tv.txt",
                   .train_list = "t.txt",
                   .val_list = "v.txt",
                   .test_list = "e.txt"};
  options.patient_namespace = "here";
  options.label_map = {{"Mass", "masa"}};
  options.sources = {options};
  options.sources[0].name = "one";
  const Value table = to_value(options);
  EXPECT_EQ(to_value(source_options_from_value(table, "/data")), table);
  for (const auto& [key, value] : table.as_table()) {
    EXPECT_NE(std::find(kSourceKeys.begin(), kSourceKeys.end(), key), kSourceKeys.end()) << key;
  }
  EXPECT_EQ(table.as_table().size(), kSourceKeys.size());
}

TEST(SourceOptions, take_one_string_for_a_list) {
  EXPECT_EQ(source_options_from_value(table_of("views", "frontal"), "/").views, std::vector<std::string>{"frontal"});
}

TEST(SourceOptions, take_labels_with_commas_between) {
  EXPECT_EQ(source_options_from_value(table_of("labels", "Mass, Nodule"), "/").labels,
            (std::vector<std::string>{"Mass", "Nodule"}));
}

TEST(SourceOptions, refuse_unknown_keys_kinds_and_values) {
  EXPECT_THAT(refusal(table_of("lables", "Mass")), HasSubstr("data.lables"));
  EXPECT_THAT(refusal(table_of("blank", "zero")), HasSubstr("expected one of unknown, negative, got zero"));
  EXPECT_THAT(refusal(table_of("source", 3)), HasSubstr("expected a text, got a value that is integer"));
  EXPECT_THAT(refusal(table_of("split_seed", -1)), HasSubstr("split_seed"));
  EXPECT_THAT(refusal(table_of("val_fraction", "much")), HasSubstr("expected a number"));
  EXPECT_THAT(refusal(table_of("label_policy", "one")), HasSubstr("expected a table"));
  EXPECT_THAT(refusal(table_of("label_policy", table_of("Mass", table_of("blnak", "unknown")))), HasSubstr("blnak"));
}

/// Two patients, one in train and one in test.
Dataset small_dataset(const TestFolder& folder) {
  folder.write("a.png", "");
  folder.write("b.png", "");
  folder.write("labels.csv",
               "path,patient,split,view,sex,age,sick\na.png,secret7,train,PA,F,61,1\nb.png,secret8,test,,M,,0\n");
  SourceOptions options;
  options.root = folder.path();
  options.labels = {"sick"};
  options.split.validation = ValidationFrom::None;
  return load_dataset(options);
}

TEST(Describe, tells_splits_views_and_positives) {
  const TestFolder folder;
  const std::string text = describe(small_dataset(folder));
  for (const char* part : {"source    csv (2 images)", "train     1 image, 1 patient,", "views     unknown 1, PA 1",
                           "sexes     F 1, M 1", "ages      61 to 61 years", "1 of     1"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(Describe, shows_labels_and_values_of_columns_on_one_line_each_without_control_characters) {
  const TestFolder folder;
  Dataset dataset = small_dataset(folder);
  dataset.label_names = {"new\nline\x1b[31m"};
  dataset.samples[0].view = "P\x07";
  dataset.notes = {"file \x1b]0;title\x07"};
  const std::string text = describe(dataset);
  for (const char* part : {"new\\nline\\x1b[31m  ", "P\\x07 1", "note      file \\x1b]0;title\\x07\n"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(Describe, names_no_patient) {
  const TestFolder folder;
  EXPECT_THAT(describe(small_dataset(folder)), testing::Not(HasSubstr("secret")));
}

TEST(Describe, gives_the_same_as_a_value) {
  const TestFolder folder;
  const Value table = describe_value(small_dataset(folder));
  EXPECT_EQ(table.at("splits").at("train").at("labels").at("sick").at("positives").as_integer(), 1);
  EXPECT_EQ(table.at("splits").find("val"), nullptr);
  EXPECT_EQ(table.at("views").at("PA").as_integer(), 1);
  EXPECT_EQ(table.at("age").at("known").as_integer(), 1);
  EXPECT_EQ(table.at("csv").as_array().front().at("file").as_string(), "labels.csv");
}

}  // namespace
}  // namespace roentgen::data
