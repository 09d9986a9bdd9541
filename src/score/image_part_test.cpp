// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "score/image_part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "core/error.h"
#include "data/source/source_testing.h"
#include "eval/split_list.h"
#include "io/sha256.h"

namespace roentgen::score {
namespace {

using data::message_of;
using testing::ElementsAre;
using testing::HasSubstr;

data::Dataset images(const std::vector<std::pair<std::string, std::string>>& ids_and_patients) {
  data::Dataset dataset;
  for (const auto& [id, patient] : ids_and_patients) dataset.samples.push_back({.id = id, .patient = patient});
  return dataset;
}

NamedImages list_of(std::vector<std::string> names) {
  NamedImages list{.title = "list made.txt", .names = std::move(names), .list_sha256 = {}};
  list.list_sha256 = io::name_list_sha256(list.names);
  return list;
}

// A list is recognised by the hash in its KnownList. Order and folders of the image names do not matter.
TEST(EvalPart, of_a_list_made_here_is_known_by_its_hash) {
  const std::string sha256 = io::name_list_sha256({"b.png", "a.png", "c.png"});
  const std::array lists{eval::KnownList{"made", "list made in a test", 3, sha256}};
  const data::Dataset dataset = images({{"x/c.png", "1"}, {"x/d.png", "1"}, {"y/a.png", "1"}, {"y/b.png", ""}});
  const Part part = list_part(dataset, list_of({"a.png", "b.png", "c.png"}));
  EXPECT_THAT(part.samples, ElementsAre(0, 2, 3));
  EXPECT_EQ(part.patients, 1);
  const eval::KnownList* known = eval::find_known_list(part.list_sha256, lists);
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known->id, "made");
  EXPECT_EQ(eval::find_known_list(list_part(dataset, list_of({"a.png", "b.png"})).list_sha256, lists), nullptr);
  EXPECT_EQ(eval::find_known_list(part.list_sha256), nullptr);
}

TEST(EvalPart, takes_whole_names_where_base_names_are_double) {
  const data::Dataset dataset = images({{"x/a.png", "1"}, {"y/a.png", "2"}, {"y/b.png", "3"}});
  EXPECT_THAT(list_part(dataset, list_of({"y/a.png", "b.png"})).samples, ElementsAre(1, 2));
  EXPECT_THAT(message_of<DataError>([&] {
                static_cast<void>(list_part(dataset, list_of({"a.png", "b.png"})));
              }),
              AllOf(HasSubstr("list made.txt: expected each of its 2 images in the data folder"),
                    HasSubstr("got 1 image missing, or with a name that fits two images (the first is a.png)")));
}

TEST(EvalPart, refuses_two_names_of_one_image) {
  const data::Dataset dataset = images({{"x/a.png", "1"}, {"x/b.png", "2"}});
  EXPECT_THAT(message_of<DataError>([&] {
                static_cast<void>(list_part(dataset, list_of({"a.png", "x/a.png"})));
              }),
              AllOf(HasSubstr("list made.txt: expected 2 different images in the data folder"),
                    HasSubstr("got only 1 image, because several names fit the same image")));
}

TEST(EvalPart, finds_images_of_repeated_base_names_by_the_ends_of_their_paths) {
  const data::Dataset dataset = images({{"CheXpert-v1.0/test/patient1/study1/view1_frontal.jpg", "1"},
                                        {"CheXpert-v1.0/test/patient2/study1/view1_frontal.jpg", "2"}});
  EXPECT_THAT(list_part(dataset, list_of({"test/patient2/study1/view1_frontal.jpg"})).samples, ElementsAre(1));
}

TEST(EvalPart, keeps_the_predictions_of_a_list) {
  const data::TestFolder folder;
  const auto list = folder.write("list.txt", "c.png 0 1\na.png 1 0\n");
  const PredictionFile file{.labels = {"Mass", "Edema"},
                            .images = {"a.png", "b.png", "c.png"},
                            .probabilities = {0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F}};
  const PredictionFile kept = rows_on_list(file, list, "preds.csv");
  EXPECT_THAT(kept.images, ElementsAre("a.png", "c.png"));
  EXPECT_THAT(kept.probabilities, ElementsAre(0.1F, 0.2F, 0.5F, 0.6F));
  const auto more = folder.write("more.txt", "a.png\nz.png\n");
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(rows_on_list(file, more, "preds.csv")); }),
              HasSubstr("each of its 2 images in preds.csv, got 1 image missing"));
  EXPECT_THAT(
      message_of<DataError>([&] { static_cast<void>(rows_on_list(file, "official", "preds.csv")); }),
      AllOf(HasSubstr("the 25596 images of the NIH official test list"), HasSubstr("got 3 images in preds.csv")));
}

TEST(EvalPart, keeps_the_images_of_a_list_and_refuses_others) {
  const data::TestFolder folder;
  data::Dataset named = images({{"images/1.png", ""}, {"images/2.png", ""}, {"images/3.png", ""}});
  keep_listed(named, folder.write("list.txt", "3.png\n1.png\n"));
  ASSERT_EQ(named.samples.size(), 2U);
  EXPECT_EQ(named.samples[0].id, "images/1.png");
  EXPECT_EQ(named.samples[1].id, "images/3.png");
  EXPECT_THAT(
      message_of<DataError>([&] { keep_listed(named, folder.write("list.txt", "4.png\n1.png\n")); }),
      HasSubstr("[cli.list] list list.txt: expected each of its 2 images in the images named, got 1 image missing"));
}

}  // namespace
}  // namespace roentgen::score
