// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "task/propose_recipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "io/toml.h"

namespace roentgen::task {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Data set with `images` training images, a tenth as many in each other split, and one label.
DataLook look_of(std::int64_t images, std::int64_t side_px = 1024) {
  DataLook look{.labels_from = "columns", .patient_from = "column patient"};
  look.source.root = "my xrays";
  look.source.source = "csv";
  look.source.labels = {"Mass"};
  look.dataset.label_names = {"Mass"};
  look.dataset.split_origin = "test: 20% of the patients, seed 0";
  look.dataset.samples.resize(static_cast<std::size_t>(images));
  for (const data::Split split : data::kSplits) {
    data::SplitSummary& summary = look.dataset.summaries.at(static_cast<std::size_t>(split));
    summary.split = split;
    summary.labels = {{.positives = 5, .negatives = 5}};
    if (split != data::Split::None) summary.images = split == data::Split::Train ? images : images / 10;
  }
  look.census.images = 10;
  look.census.forms = {{"png gray 8 bit", 10}};
  look.census.sizes = {{{side_px, side_px + 100}, 10}};
  return look;
}

train::Recipe recipe_for(const DataLook& look) { return recipe_of(propose_keys(look)); }

TEST(ProposeRecipe, network_epochs_and_batch_follow_the_number_of_images) {
  const train::Recipe few = recipe_for(look_of(100));
  EXPECT_EQ(few.model.name, "resnet18");
  EXPECT_EQ(few.model.width, 32);
  EXPECT_EQ(few.train.batch, 4);
  EXPECT_EQ(few.train.epochs, 40);
  const train::Recipe some = recipe_for(look_of(12000));
  EXPECT_EQ(some.model.width, 64);
  EXPECT_EQ(some.train.batch, 32);
  EXPECT_EQ(some.train.epochs, 12);
  const train::Recipe many = recipe_for(look_of(100000));
  EXPECT_EQ(many.model.name, "densenet121");
  EXPECT_DOUBLE_EQ(many.optimizer.lr, 1e-4);
  EXPECT_EQ(recipe_for(look_of(3)).train.batch, 3);
}

TEST(ProposeRecipe, the_input_is_no_larger_than_the_images) {
  EXPECT_EQ(recipe_for(look_of(500)).preprocess.size_px, 224);
  EXPECT_EQ(recipe_for(look_of(500, 224)).preprocess.size_px, 224);
  EXPECT_EQ(recipe_for(look_of(500, 150)).preprocess.size_px, 128);
  EXPECT_EQ(recipe_for(look_of(500, 20)).preprocess.size_px, 32);
}

TEST(ProposeRecipe, dicom_files_are_read_as_a_viewer_shows_them) {
  DataLook look = look_of(500);
  EXPECT_EQ(recipe_for(look).preprocess.to_value().at("intensity").as_string(), "stored");
  look.census.forms["dicom gray 12 bit"] = 3;
  EXPECT_EQ(recipe_for(look).preprocess.to_value().at("intensity").as_string(), "voi");
}

TEST(ProposeRecipe, selects_by_loss_where_no_validation_auroc_is_defined) {
  DataLook look = look_of(500);
  EXPECT_EQ(recipe_for(look).train.select, "auroc");
  look.dataset.summaries.at(1).labels = {{.positives = 0, .negatives = 5}};
  EXPECT_EQ(recipe_for(look).train.select, "loss");
}

TEST(ProposeRecipe, hours_are_those_of_all_epochs_with_validation) {
  const DataLook look = look_of(3000);
  const train::Recipe recipe = recipe_for(look);
  const TrainingSpeed speed{.images_per_s = 10.0, .decoded_per_s = 100.0, .threads = 2};
  EXPECT_DOUBLE_EQ(expected_hours(recipe, look.dataset, speed), 20.0 * (3000.0 + 100.0) / 36000.0);
  EXPECT_EQ(
      time_text(recipe, look.dataset, speed),
      "about 1.7 hours for all 20 epochs on this machine, as busy as it is now (2 threads): 10 images/s in training; "
      "computing limits it (decoding alone: 100 images/s)");
  const TrainingSpeed waiting{.images_per_s = 0.5, .decoded_per_s = 0.5, .wait_share = 0.6, .threads = 1};
  EXPECT_THAT(time_text(recipe, look.dataset, waiting),
              testing::AllOf(HasSubstr("reading and decoding limit it"), HasSubstr("convert --resize")));
}

TEST(ProposeRecipe, the_text_reads_back_as_the_recipe_and_gives_every_reason) {
  DataLook look = look_of(500);
  look.source.split.unit = data::SplitUnit::Image;
  look.source.csv = {"a b.csv"};
  look.doubts = {"line\nbreak " + std::string(200, 'x') + " " + std::string(30, 'y')};
  const std::vector<ProposedKey> keys = propose_keys(look);
  const std::string text = proposed_text(look, keys, TrainingSpeed{.images_per_s = 10.0}, "my recipe.toml");
  EXPECT_EQ(train::to_toml(train::parse_recipe(text, "text", {})), train::to_toml(recipe_of(keys)));
  EXPECT_THAT(text, HasSubstr("#   roentgen train --recipe 'my recipe.toml' --data 'my xrays' --out run\n"));
  EXPECT_THAT(text, HasSubstr("--split test\n"));
  EXPECT_THAT(text, HasSubstr("split_unit = \"image\"\n"));
  EXPECT_THAT(text, HasSubstr("csv = [\"a b.csv\"]\n"));
  EXPECT_THAT(text, HasSubstr("# Check   line\\nbreak"));
  EXPECT_THAT(text, Not(HasSubstr("\n\n\n")));
  for (const ProposedKey& key : keys) EXPECT_THAT(text, HasSubstr(key.reason.substr(0, 30)));
}

TEST(ProposeRecipe, admits_the_unreadable_images_that_were_found) {
  DataLook look = look_of(24);
  look.census.images = 24;
  for (data::Sample& sample : look.dataset.samples) sample.split = data::Split::Train;
  EXPECT_EQ(recipe_for(look).train.max_bad, 0.001);
  EXPECT_EQ(unreadable_text(look), "");
  look.unreadable = {3};
  EXPECT_DOUBLE_EQ(recipe_for(look).train.max_bad, 0.042);
  EXPECT_THAT(unreadable_text(look), testing::AllOf(testing::StartsWith("1 image cannot be read; roentgen inspect"),
                                                    HasSubstr("omits them, up to a share of train.max_bad = 0.042")));
  EXPECT_THAT(proposed_text(look, propose_keys(look), {}, "r.toml"),
              HasSubstr("replaces. Found: 1, 1 of them in train.\nmax_bad = 0.042\n"));
  look.dataset.samples[3].split = data::Split::Val;
  EXPECT_EQ(recipe_for(look).train.max_bad, 0.001);
  EXPECT_THAT(unreadable_text(look), HasSubstr("1 of them in val or test would stop validation or eval: repair"));
}

TEST(ProposeRecipe, leaves_many_unreadable_images_to_be_mended) {
  DataLook look = look_of(20);
  look.census.images = 20;
  for (data::Sample& sample : look.dataset.samples) sample.split = data::Split::Train;
  for (std::uint32_t i = 0; i < 5; ++i) look.unreadable.insert(i);
  EXPECT_EQ(recipe_for(look).train.max_bad, 0.001);
  EXPECT_THAT(unreadable_text(look),
              HasSubstr("would stop, because their share exceeds train.max_bad = 0.001; 0.25 would be enough"));
}

TEST(ProposeRecipe, takes_the_images_looked_at_for_a_sample_of_all) {
  DataLook look = look_of(100000);
  look.census.images = 500;
  look.census.broken.resize(2);
  look.unreadable = {0, 200};
  EXPECT_DOUBLE_EQ(recipe_for(look).train.max_bad, 0.004);
}

TEST(ProposeRecipe, evaluates_on_validation_where_nothing_is_left_for_a_test) {
  DataLook look = look_of(500);
  look.dataset.summaries.at(2).images = 0;
  EXPECT_THAT(next_commands(look, "r.toml").at(1), HasSubstr("--split val"));
}

}  // namespace
}  // namespace roentgen::task
