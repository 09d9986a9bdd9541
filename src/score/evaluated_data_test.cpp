// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "score/evaluated_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

#include "core/error.h"
#include "data/source/source_testing.h"

namespace roentgen::score {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class EvalData : public testing::Test {
 protected:
  // Returns the data options of a checkpoint whose model has the labels A and B.
  [[nodiscard]] data::SourceOptions recipe(const char* source) const {
    data::SourceOptions options{.root = folder_.path(), .source = source, .labels = {"A", "B"}};
    options.unknown_labels = data::UnknownLabels::Mask;
    options.split.unit = data::SplitUnit::Image;
    options.split.mode = data::SplitMode::Whole;
    return options;
  }
  void write(std::initializer_list<const char*> names) const {
    for (const char* name : names) folder_.write(name, "x");
  }
  [[nodiscard]] static std::string refusal(data::SourceOptions source, const std::vector<std::string>& overrides = {}) {
    try {
      static_cast<void>(load_evaluated(source, overrides));
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  }
  data::TestFolder folder_;
};

TEST_F(EvalData, are_read_as_classes_that_lie_below_their_folders) {
  write({"A/images/1.png", "A/masks/1.png", "B/images/2.png"});
  data::SourceOptions source = recipe("class_folders");
  EXPECT_EQ(load_evaluated(source, {}).samples.size(), 2U);
  EXPECT_EQ(source.source, "class_folders");
}

// Each of two data sets has one of the model's two labels. The second data set has another format than the recipe says.
TEST_F(EvalData, of_several_folders_are_each_read_as_what_is_found_there) {
  write({"one/1.png", "two/images/00000001_000.png"});
  folder_.write("one/labels.csv", "path,A\n1.png,1\n");
  folder_.write("two/Data_Entry_2017.csv", "Image Index,Finding Labels,Patient ID\n00000001_000.png,B,1\n");
  data::SourceOptions all = recipe("csv");
  for (const char* name : {"one", "two"}) {
    data::SourceOptions source = recipe("csv");
    source.name = name;
    source.root = folder_.path() / name;
    all.sources.push_back(source);
  }
  const data::Dataset dataset = load_evaluated(all, {});
  EXPECT_EQ(dataset.samples.size(), 2U);
  EXPECT_EQ(all.sources[0].source, "csv");
  EXPECT_EQ(all.sources[1].source, "nih");
  EXPECT_THAT(data::absent_labels(dataset), testing::IsEmpty());
  EXPECT_THAT(refusal(all, {"data.source=csv"}), testing::StrEq("nothing")) << "each has its source by now";
  all.sources[1].source = "csv";
  EXPECT_THAT(refusal(all, {"data.source=csv"}), HasSubstr("two: "));
}

TEST_F(EvalData, keep_the_recipes_source_beside_tables_of_others) {
  write({"train/A/1.png", "train/B/2.png", "test/A/3.png", "test/B/4.png", "loose.png", "readme.txt"});
  std::filesystem::create_directory(folder_.path() / "test/C");
  folder_.write("labels.csv", "path,A,B\ntest/A/3.png,0,1\ntest/B/4.png,1,0\n");
  for (const char* name : {"class_folders", "csv"}) {
    data::SourceOptions source = recipe(name);
    const data::Dataset dataset = load_evaluated(source, {});
    EXPECT_EQ(dataset.source, name);
    EXPECT_EQ(dataset.samples.size(), source.source == "csv" ? 2U : 4U);
  }
  std::filesystem::create_symlink("/nowhere", folder_.path() / "test/A/5.png");
  EXPECT_THAT(refusal(recipe("class_folders")), HasSubstr("1 broken"));
  folder_.write("labels.csv", "path,A,B\ntest/A/3.png,0,1\ntest/B/6.png,1,0\n");
  EXPECT_THAT(refusal(recipe("csv")), HasSubstr("data.absent=skip"));
}

TEST_F(EvalData, are_read_as_what_they_are_where_the_recipes_source_cannot) {
  write({"images/1.png", "images/2.png", "more/3.png"});
  folder_.write("Data_Entry_2017.csv", "Image Index,Finding Labels,Patient ID\n1.png,A,1\n2.png,B,2\n3.png,A|B,3\n");
  for (const char* name : {"csv", "chexpert", "tar", "class_folders"}) {
    data::SourceOptions source = recipe(name);
    if (source.source != "class_folders") source.csv = {"mine.csv"};
    testing::internal::CaptureStderr();
    EXPECT_EQ(load_evaluated(source, {}).source, "nih") << name;
    EXPECT_EQ(source.source, "nih");
    EXPECT_THAT(testing::internal::GetCapturedStderr(),
                HasSubstr(std::string("data.source=") + name + ", which these data do not fit: reading them as nih"));
  }
  EXPECT_THAT(refusal(recipe("csv"), {"data.source=csv"}), HasSubstr("labels.csv: no such file"));
}

TEST_F(EvalData, that_lack_all_labels_are_refused_as_such) {
  write({"C/1.png", "D/2.png"});
  EXPECT_THAT(refusal(recipe("class_folders")), HasSubstr("with the labels that the checkpoint knows"));
}

}  // namespace
}  // namespace roentgen::score
