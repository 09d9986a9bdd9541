// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests that eval reads the predictions that train writes, for images and labels with any name.
#include <gtest/gtest.h>

#include "data/source/source_testing.h"
#include "score/prediction_file.h"
#include "train/predict.h"

namespace roentgen::cli {
namespace {

TEST(WrittenPredictions, are_read_back) {
  const eval::Predictions predictions{.label_names = {"Mass", "Edema"},
                                      .image_ids = {"a.png", "x,\"y\".png"},
                                      .patients = {0, 1},
                                      .probabilities = {0.1F, 1e-45F, 0.9999999F, 1.0F},
                                      .labels = {0, 1, 1, 0}};
  const data::TestFolder folder;
  const auto path = folder.write("preds.csv", train::predictions_csv(predictions));
  const score::PredictionFile read = score::read_prediction_file(path);
  EXPECT_EQ(read.images, predictions.image_ids);
  EXPECT_EQ(read.labels, predictions.label_names);
  EXPECT_EQ(read.probabilities, predictions.probabilities);
}

}  // namespace
}  // namespace roentgen::cli
