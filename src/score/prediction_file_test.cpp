// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "score/prediction_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "data/source/source_testing.h"

namespace roentgen::score {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void expect_refused(std::string_view predictions, const std::string& part) {
  const data::TestFolder folder;
  const auto path = folder.write("preds.csv", predictions);
  const std::string message = data::message_of<DataError>([&] { static_cast<void>(read_prediction_file(path)); });
  EXPECT_THAT(message, HasSubstr(part));
  EXPECT_THAT(message, testing::Not(HasSubstr("a.png")));
}

TEST(PredictionFile, reads_probabilities_by_their_prefix) {
  const data::TestFolder folder;
  const PredictionFile read = read_prediction_file(
      folder.write("preds.csv", ",Image Index,prob_Mass,note,prob_Edema\n0,a.png,0.25,x,1e-50\n1,b.png,1,y,0\n"));
  EXPECT_THAT(read.labels, ElementsAre("Mass", "Edema"));
  EXPECT_THAT(read.images, ElementsAre("a.png", "b.png"));
  EXPECT_THAT(read.probabilities, ElementsAre(0.25F, 0.0F, 1.0F, 0.0F));
}

TEST(PredictionFile, refuses_what_is_no_table_of_predictions_and_names_no_image) {
  expect_refused("Name,prob_Mass\na.png,1\n", "expected a column Image Index, got Name, prob_Mass");
  expect_refused("Image Index,Mass\na.png,1\n", "expected columns prob_<Label>, got Image Index, Mass");
  expect_refused("Image Index,prob_Mass,prob_Mass\na.png,1,1\n", "expected each label once, got prob_Mass twice");
  expect_refused("Image Index,prob_Mass\na.png,nan\n", "line 2, prob_Mass: expected a finite number, got \"nan\"");
  expect_refused("Image Index,prob_Mass\na.png,1e99\n", "line 2, prob_Mass: expected a finite number");
  expect_refused("Image Index,prob_Mass\na.png\n", "line 2, prob_Mass: expected a finite number, got \"\"");
  expect_refused("Image Index,prob_Mass\na.png,1\na.png,1\n", "line 3: expected an image name that occurs once");
  expect_refused("Image Index,prob_Mass\n", "expected one row per image, got only a header");
}

}  // namespace
}  // namespace roentgen::score
