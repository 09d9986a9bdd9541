// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "score/prediction_match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "data/source/source_testing.h"

namespace roentgen::score {
namespace {

using data::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

PredictionFile file_of(std::string_view text) {
  const data::TestFolder folder;
  return read_prediction_file(folder.write("preds.csv", text));
}

TEST(PredictionMatch, orders_rows_and_columns_by_name) {
  const PredictionFile model = file_of("Image Index,prob_Mass,prob_Hernia\na.png,0.1,0.2\nb.png,0.3,0.4\n");
  const PredictionFile other = file_of("Image Index,prob_Hernia,prob_Mass\nb.png,0.5,0.6\na.png,0.7,0.8\n");
  const PredictionFile ordered = in_order_of(model, "a.csv", other, "b.csv");
  EXPECT_THAT(ordered.labels, ElementsAre("Mass", "Hernia"));
  EXPECT_THAT(ordered.images, ElementsAre("a.png", "b.png"));
  EXPECT_THAT(ordered.probabilities, ElementsAre(0.8F, 0.7F, 0.6F, 0.5F));
}

TEST(PredictionMatch, finds_base_names_where_folders_differ) {
  const PredictionFile model = file_of("image,prob_Mass\nimages_001/a.png,0.1\nimages_002/b.png,0.3\n");
  const PredictionFile ordered = in_order_of(model, "a", file_of("image,prob_Mass\nb.png,0.5\na.png,0.7\n"), "b");
  EXPECT_THAT(ordered.images, ElementsAre("a.png", "b.png"));
  EXPECT_THAT(ordered.probabilities, ElementsAre(0.7F, 0.5F));
  // The base name occurs in two folders, so only whole paths identify an image.
  const PredictionFile twice = file_of("image,prob_Mass\nx/a.png,0.1\ny/a.png,0.3\n");
  EXPECT_THAT(in_order_of(twice, "a", file_of("image,prob_Mass\ny/a.png,0.5\nx/a.png,0.7\n"), "b").probabilities,
              ElementsAre(0.7F, 0.5F));
  EXPECT_THAT(message_of<DataError>([&] {
                static_cast<void>(in_order_of(twice, "a", file_of("image,prob_Mass\na.png,0.5\nb.png,0.7\n"), "b"));
              }),
              HasSubstr("the 2 images of a"));
}

// Names in the form of CheXpert's table, and paths as found by listing its folder.
TEST(PredictionMatch, finds_the_ends_of_paths_where_base_names_are_the_same) {
  const PredictionFile table = file_of(
      "image,prob_Mass\nCheXpert-v1.0/valid/patient1/study1/view1_frontal.jpg,0.1\n"
      "CheXpert-v1.0/valid/patient2/study1/view1_frontal.jpg,0.3\n");
  const PredictionFile walk = file_of(
      "image,prob_Mass\nvalid/patient2/study1/view1_frontal.jpg,0.5\nvalid/patient1/study1/view1_frontal.jpg,0.7\n");
  EXPECT_THAT(in_order_of(table, "a", walk, "b").probabilities, ElementsAre(0.7F, 0.5F));
  EXPECT_THAT(in_order_of(walk, "b", table, "a").probabilities, ElementsAre(0.3F, 0.1F));
  const PredictionFile other = file_of(
      "image,prob_Mass\nvalid/patient2/study1/view1_frontal.jpg,0.5\nvalid/patient3/study1/view1_frontal.jpg,0.7\n");
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(in_order_of(table, "a", other, "b")); }),
              HasSubstr("got 2 images (list "));
}

TEST(PredictionMatch, refuses_other_images_and_labels_with_the_counts) {
  const PredictionFile model = file_of("image,prob_Mass\na.png,0.1\nb.png,0.3\nc.png,0.3\n");
  EXPECT_THAT(message_of<DataError>([&] {
                static_cast<void>(in_order_of(model, "a.csv", file_of("image,prob_Mass\nb.png,1\nd.png,1\n"), "b.csv"));
              }),
              AllOf(HasSubstr("b.csv: expected the 3 images of a.csv (list "), HasSubstr("got 2 images (list "),
                    HasSubstr("), of which 1 are the same; try")));
  EXPECT_THAT(
      message_of<DataError>([&] {
        static_cast<void>(in_order_of(model, "a.csv", file_of("image,prob_Mass,prob_Edema\na.png,1,1\n"), "b.csv"));
      }),
      HasSubstr("the 1 label of a.csv: Mass, got 2 labels, of which 1 are the same: Mass, Edema"));
}

TEST(PredictionMatch, averages_probabilities) {
  const data::TestFolder folder;
  const std::vector<std::string> paths{folder.write("a.csv", "image,prob_Mass\na.png,0.25\nb.png,0.5\n"),
                                       folder.write("b.csv", "image,prob_Mass\nb.png,1\na.png,0.75\n"),
                                       folder.write("c.csv", "image,prob_Mass\na.png,0.5\nb.png,0.75\n")};
  EXPECT_THAT(read_mean_predictions(paths).probabilities, ElementsAre(0.5F, 0.75F));
  EXPECT_THAT(read_mean_predictions(std::span(paths).first(1)).probabilities, ElementsAre(0.25F, 0.5F));
  EXPECT_EQ(prediction_names(paths), "mean of 3 files (a.csv, b.csv, c.csv)");
  EXPECT_THAT(message_of<ConfigError>([] { static_cast<void>(read_mean_predictions({})); }), HasSubstr("got no file"));
}

}  // namespace
}  // namespace roentgen::score
