// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/several.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.h"
#include "data/source/describe.h"
#include "data/source/options.h"
#include "data/source/source_testing.h"

namespace roentgen::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Two hospitals whose patients have the same numbers and whose images have the same names.
class Several : public testing::Test {
 protected:
  Several() {
    std::string nih = "Image Index,Finding Labels,Patient ID\n", chexpert = "Path,Sex,Age,Frontal/Lateral,AP/PA";
    chexpert += ",No Finding,Pleural Effusion,Lung Opacity,Fracture\n";
    for (int i = 0; i < 12; ++i) {
      const std::string name = std::to_string(i) + ".png";
      nih_.write(name, "x");
      nih += name + (i % 2 == 0 ? ",Effusion," : ",Mass,") + std::to_string(i) + "\n";
      const std::string patient = "patient0000" + std::to_string(i);
      chexpert_.write("train/" + patient + "/study1/view1_frontal.jpg", "x");
      chexpert += "CheXpert/train/" + patient + "/study1/view1_frontal.jpg,Female,50,Frontal,PA,," +
                  std::string(i % 3 == 0 ? "1.0" : "0.0") + ",1.0,\n";
    }
    nih_.write("Data_Entry_2017.csv", nih);
    chexpert_.write("train.csv", chexpert);
  }

  [[nodiscard]] std::vector<std::string> both() const { return {nih_.path().string(), chexpert_.path().string()}; }

  static Dataset load(const std::vector<std::string>& folders, SourceOptions options = {}) {
    place_folders(options, folders);
    return load_dataset(options);
  }
  static std::string refusal(const std::vector<std::string>& folders, const SourceOptions& options = {}) {
    try {
      static_cast<void>(load(folders, options));
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  }
  static SourceOptions recipe(Value sources) {
    return source_options_from_value(Value::Table{{"sources", std::move(sources)}}, {});
  }
  /// Writes labels.csv with rows of path, patient and labels.
  static void write_csv(const TestFolder& folder, const std::string& columns, const std::string& labels) {
    std::string text = "path,patient," + columns + "\n";
    for (int i = 0; i < 12; ++i) {
      folder.write(std::to_string(i) + ".png", "x");
      text += std::to_string(i) + ".png," + std::to_string(i) + "," + labels + "\n";
    }
    folder.write("labels.csv", text);
  }

  TestFolder nih_, chexpert_;
};

TEST_F(Several, one_finding_of_two_names_is_one_label) {
  const Dataset dataset = load(both(), {.labels = {"Effusion", "Mass", "Lung Opacity"}});
  ASSERT_EQ(dataset.samples.size(), 24U);
  EXPECT_THAT(dataset.label_names, ElementsAre("Effusion", "Mass", "Lung Opacity"));
  EXPECT_EQ(dataset.samples[0].labels[0], 1.0F);
  EXPECT_EQ(dataset.samples[12].labels[0], 1.0F);
  EXPECT_EQ(dataset.samples[13].labels[0], 0.0F);
}

TEST_F(Several, the_name_asked_for_may_be_that_of_either) {
  const Dataset dataset = load(both(), {.labels = {"Pleural Effusion"}});
  EXPECT_THAT(dataset.label_names, ElementsAre("Pleural Effusion"));
  EXPECT_EQ(dataset.samples[0].labels[0], 1.0F);
  EXPECT_EQ(dataset.samples[12].labels[0], 1.0F);
}

TEST_F(Several, a_label_that_one_does_not_know_is_unknown_there) {
  const Dataset dataset = load(both(), {.labels = {"Effusion", "Mass", "Lung Opacity"}});
  for (const Sample& sample : dataset.samples) {
    EXPECT_EQ(std::isnan(sample.labels[1]), sample.part == 1);
    EXPECT_EQ(std::isnan(sample.labels[2]), sample.part == 0);
  }
  EXPECT_THAT(dataset.parts[0].known_labels, ElementsAre("Effusion", "Mass"));
  EXPECT_THAT(dataset.parts[1].known_labels, ElementsAre("Effusion", "Lung Opacity"));
}

TEST_F(Several, without_labels_asked_for_all_of_all_are_taken) {
  SourceOptions options;
  options.policy.blank = Blank::Negative;
  write_csv(chexpert_, "Effusion,Devices", "1,0");
  const Dataset dataset =
      load({"a=" + nih_.path().string(), "b=" + chexpert_.path().string()},
           source_options_from_value(
               Value::Table{{"sources", Value::Array{Value::Table{{"name", "a"}},
                                                     Value::Table{{"name", "b"},
                                                                  {"source", "csv"},
                                                                  {"labels", Value::Array{"Effusion", "Devices"}}}}}},
               {}));
  ASSERT_EQ(dataset.label_names.size(), 15U);
  EXPECT_EQ(dataset.label_names.back(), "Devices");
  EXPECT_TRUE(std::isnan(dataset.samples.front().labels.back()));
  EXPECT_EQ(dataset.samples.back().labels.back(), 0.0F);
}

TEST_F(Several, equal_numbers_of_two_hospitals_are_two_patients) {
  const Dataset dataset = load(both(), {.labels = {"Effusion"}});
  std::int64_t patients = 0;
  for (const SplitSummary& summary : dataset.summaries) patients += summary.patients;
  EXPECT_EQ(patients, 24);
  // A checkpoint stores the hashes that each data set alone would give. So an evaluation on one data set detects the
  // leak.
  const Dataset alone = load({nih_.path().string()}, {.labels = {"Effusion"}});
  std::vector<std::string> of_nih;
  for (const std::string& hash : patient_hashes(alone, Split::Train, "salt")) of_nih.push_back(hash);
  const auto all = patient_hashes(dataset, Split::Train, "salt");
  EXPECT_TRUE(std::ranges::includes(all, of_nih));
}

TEST_F(Several, each_keeps_the_splits_that_it_has_alone) {
  const Dataset dataset = load(both(), {.labels = {"Effusion"}});
  const Dataset alone = load({nih_.path().string()}, {.labels = {"Effusion"}});
  for (std::size_t i = 0; i < alone.samples.size(); ++i) EXPECT_EQ(dataset.samples[i].split, alone.samples[i].split);
  EXPECT_THAT(dataset.split_origin, HasSubstr("nih: test: 20%"));
  EXPECT_THAT(dataset.split_origin, HasSubstr("chexpert: "));
}

TEST_F(Several, names_that_two_have_get_the_sources_name) {
  TestFolder other;
  write_csv(other, "Effusion,Mass", "1,0");
  const Dataset dataset = load({"a=" + nih_.path().string(), "b=" + other.path().string()}, {.labels = {"Effusion"}});
  EXPECT_EQ(dataset.samples[0].id, "a/0.png");
  EXPECT_EQ(dataset.samples[12].id, "b/0.png");
  std::set<std::string> names;
  for (const Sample& sample : dataset.samples) EXPECT_TRUE(names.insert(sample.id).second) << sample.id;
}

TEST_F(Several, notes_say_whose_they_are) {
  nih_.write("unnamed.png", "x");
  const Dataset dataset = load(both(), {.labels = {"Effusion"}});
  EXPECT_THAT(dataset.notes, testing::Contains(HasSubstr("nih: image files that are not in the table: 1")));
  EXPECT_THAT(describe(dataset), HasSubstr("part      chexpert (chexpert): 12 images"));
  EXPECT_EQ(describe_value(dataset).at("sources").as_array().size(), 2U);
}

TEST_F(Several, sources_without_a_common_label_are_refused) {
  EXPECT_THAT(refusal(both(), {.labels = {"Mass", "Lung Opacity"}}),
              HasSubstr("[data.sources] nih: expected at least one label in common with another data set, got none "
                        "(its labels: Mass)"));
}

TEST_F(Several, a_label_map_gives_a_source_its_own_names) {
  TestFolder other;
  write_csv(other, "derrame", "1");
  SourceOptions options = recipe(Value::Array{
      Value::Table{{"name", "a"}}, Value::Table{{"name", "b"}, {"label_map", Value::Table{{"Effusion", "derrame"}}}}});
  options.labels = {"Effusion"};
  const Dataset dataset = load({nih_.path().string(), other.path().string()}, options);
  EXPECT_EQ(dataset.samples.back().labels[0], 1.0F);
  EXPECT_THAT(dataset.label_names, ElementsAre("Effusion"));
}

TEST_F(Several, contradicting_label_maps_are_refused) {
  const auto map = [](std::string_view label) { return Value::Table{{std::string(label), "Lung Opacity"}}; };
  SourceOptions options = recipe(Value::Array{Value::Table{{"name", "a"}, {"label_map", map("Mass")}},
                                              Value::Table{{"name", "b"}, {"label_map", map("Effusion")}}});
  options.labels = {"Mass", "Effusion"};
  EXPECT_THAT(
      refusal(both(), options),
      HasSubstr("[data.label_map] Lung Opacity: expected one label for this column, got two, Mass and Effusion"));
  // A data set whose label map assigns two labels to the same column.
  SourceOptions one{.labels = {"Effusion", "Mass"}, .label_map = {{"Mass", "Pleural Effusion"}}};
  EXPECT_THAT(refusal({chexpert_.path().string()}, one), HasSubstr("got two, Effusion and Mass"));
  one.label_map = {{"Nodule", "Lung Opacity"}};
  EXPECT_THAT(refusal({chexpert_.path().string()}, one), HasSubstr("[data.label_map] Nodule: expected a label that"));
  EXPECT_THAT(refusal(both(), {.labels = {"Effusion", "Pleural Effusion"}}),
              HasSubstr("each finding in one label only"));
}

TEST_F(Several, folders_go_to_the_sources_of_their_name) {
  const Value sources = Value::Array{Value::Table{{"name", "a"}}, Value::Table{{"name", "b"}}};
  SourceOptions options = recipe(sources);
  place_folders(options, {"b=" + chexpert_.path().string()});
  ASSERT_EQ(options.sources.size(), 1U);
  EXPECT_EQ(options.sources[0].name, "b");
  EXPECT_EQ(options.sources[0].root, chexpert_.path());
  SourceOptions one = recipe(sources);
  one.labels = {"Effusion"};
  EXPECT_EQ(load({"b=" + chexpert_.path().string()}, one).patient_namespace, "b");
  EXPECT_THAT(refusal({"c=" + nih_.path().string()}, recipe(sources)), HasSubstr("try one of these names: a, b"));
  EXPECT_THAT(refusal({nih_.path().string()}, recipe(sources)), HasSubstr("one folder for each data set"));
  EXPECT_THAT(refusal({"a=" + nih_.path().string(), chexpert_.path().string()}, recipe(sources)),
              HasSubstr("a name (NAME=DIR) for every --data or for none"));
  EXPECT_THAT(refusal({}, recipe(sources)), HasSubstr("[data.sources] a: folder: expected a folder for each data set"));
}

TEST_F(Several, two_folders_of_one_kind_need_names) {
  EXPECT_THAT(
      refusal({nih_.path().string(), nih_.path().string()}),
      HasSubstr("[data.sources] nih: expected a different name for each data set, got two folders of this format"));
}

TEST_F(Several, a_shared_patient_in_two_splits_is_refused) {
  const auto source = [&](std::string_view name, std::string_view split) {
    return Value::Table{{"name", name}, {"split", split}, {"patient_namespace", "one hospital"}};
  };
  SourceOptions options = recipe(Value::Array{source("a", "random"), source("b", "whole")});
  EXPECT_THAT(refusal({nih_.path().string(), nih_.path().string()}, options),
              HasSubstr("each patient in only one split"));
}

TEST_F(Several, errors_name_the_source) {
  EXPECT_THAT(refusal({"a=" + nih_.path().string(), "b=/nowhere"}), HasSubstr("[data.source] b: /nowhere"));
}

TEST_F(Several, survive_the_way_to_a_recipe_and_back) {
  SourceOptions options = source_options_from_value(
      Value::Table{{"uncertain", "one"},
                   {"csv", Value::Array{"x.csv"}},
                   {"sources", Value::Array{Value::Table{{"name", "a"}, {"uncertain", "zero"}},
                                            Value::Table{{"name", "b"}, {"csv", Value::Array{}}}}}},
      {});
  EXPECT_EQ(options.sources[0].policy.uncertain, Uncertain::Zero);
  EXPECT_EQ(options.sources[1].policy.uncertain, Uncertain::One);
  EXPECT_EQ(options.sources[0].csv.size(), 1U);
  EXPECT_TRUE(options.sources[1].csv.empty());
  const Value table = to_value(options);
  EXPECT_EQ(to_value(source_options_from_value(table, {})), table);
  // Only differences are stored, so that a later --set of the common keys applies to all data sets.
  EXPECT_EQ(table.at("sources").as_array()[0].as_table().size(), 2U);
}

TEST_F(Several, unknown_keys_of_a_source_are_named) {
  const std::string text = message_of<ConfigError>([] {
    static_cast<void>(recipe(Value::Array{Value::Table{{"nmae", "a"}}}));
  });
  EXPECT_THAT(text, HasSubstr("data.sources[0].nmae"));
  EXPECT_THAT(message_of<ConfigError>([] { static_cast<void>(recipe("a")); }), HasSubstr("data.sources"));
}

}  // namespace
}  // namespace roentgen::data
