// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "score/compared_side.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "data/source/source_testing.h"
#include "score/truth.h"

namespace roentgen::score {
namespace {

using testing::HasSubstr;

class ComparedSides : public testing::Test {
 protected:
  ComparedModel model(const char* what, std::string_view predictions) {
    return read_model(what, folder_.write(what, predictions));
  }
  Truth truth(std::string_view table) { return read_truth(folder_.write("labels.csv", table), {"Mass"}, {}); }
  data::TestFolder folder_;
  ComparedModel a_ = model("a.csv", "Image Index,prob_Mass\n1.png,0.1\n2.png,0.9\n3.png,0.3\n");
  ComparedModel b_ = model("b.csv", "Image Index,prob_Mass\n3.png,0.8\n1.png,0.2\n2.png,0.4\n");
  Truth truth_ = truth("path,patient,Mass\n1.png,p,0\n2.png,q,1\n3.png,r,0\n");
};

TEST_F(ComparedSides, are_compared_image_by_image) {
  const ComparedSide a = make_side("a.csv", {a_}, truth_, a_);
  const ComparedSide b = make_side("b.csv", {b_}, truth_, a_);
  check_truth(a, b);
  const eval::Comparison comparison = compare(a, b, {.replicates = 0});
  EXPECT_EQ(comparison.images, 3);
  EXPECT_EQ(b.sets.front().predictions.probabilities, (std::vector{0.2F, 0.4F, 0.8F}));
  EXPECT_EQ(to_value(a).at("kind").as_string(), "predictions");
  EXPECT_EQ(to_value(a).at("labels_sha256").as_string(), truth_.dataset.csv_sha256.at(0));
}

TEST_F(ComparedSides, of_other_labels_are_refused_with_the_counts) {
  const ComparedSide a = make_side("a.csv", {a_}, truth_, a_);
  const ComparedSide b = make_side("b.csv", {b_}, truth("path,patient,Mass\n1.png,p,1\n2.png,q,1\n3.png,r,0\n"), a_);
  EXPECT_THAT(data::message_of<DataError>([&] { check_truth(a, b); }),
              HasSubstr("b.csv: expected the same true labels as A, got 1 of 3 labels that differs, in 1 of 3 images"));
}

TEST_F(ComparedSides, of_a_run_tell_of_another_version_of_its_labels) {
  ComparedModel run = a_;
  run.recipe = Value::table();
  run.csv_sha256 = {"another"};
  EXPECT_THAT(version_warning("A", make_side("run", {run}, truth_, a_)),
              HasSubstr("A was trained with another version of the labels than labels.csv (sha256 "));
  EXPECT_TRUE(make_side("run", {run}, truth_, a_).has_chosen_epoch());
  run.csv_sha256 = truth_.dataset.csv_sha256;
  EXPECT_EQ(version_warning("A", make_side("run", {run}, truth_, a_)), "");
}

TEST_F(ComparedSides, seeds_of_one_recipe_are_no_model_twice) {
  std::vector<ComparedModel> seeds{a_, b_};
  join_seeds("A", seeds);
  EXPECT_EQ(seeds[1].predictions.images, a_.predictions.images);
  seeds[1] = a_;
  EXPECT_THROW(join_seeds("A", seeds), DataError);
}

}  // namespace
}  // namespace roentgen::score
