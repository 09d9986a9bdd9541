// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests roentgen compare, ensembles and test-time augmentation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr int kPatients = 60;

// Fixture with two images per patient. Mass is given by patient, Hernia is always absent. Model A is better than model
// B.
class Compare : public testing::Test {
 protected:
  Compare() {
    std::string a = "Image Index,prob_Mass,prob_Edema,prob_Hernia\n";
    std::string b = "Image Index,prob_Edema,prob_Hernia,prob_Mass\n";  // other columns, other order of rows
    std::string rows_b;
    std::string labels = "Image Index,Finding Labels,Patient ID\n";
    for (int i = 0; i < 2 * kPatients; ++i) {
      const int patient = 10000 + i / 2;
      std::ostringstream name;
      name << "000" << patient << "_00" << i % 2 << ".png";
      const bool has_mass = patient % 3 == 0;
      const double noise = (patient * 7919 % 100 + 37 * (i % 2)) / 200.0;
      const double other = (patient * 104729 % 97) / 97.0;
      a += name.str() + "," + std::to_string((has_mass ? 0.3 : 0.05) + noise / 1.2) + "," + std::to_string(other) +
           ",0.1\n";
      rows_b = name.str() + "," + std::to_string(other) + ",0.2," + std::to_string(noise) + "\n" + rows_b;
      labels += name.str() + (has_mass ? ",Mass|Edema," : (patient % 4 == 0 ? ",Edema," : ",No Finding,")) +
                std::to_string(patient) + "\n";
    }
    a_ = place_.write("a.csv", a).string();
    b_ = place_.write("b.csv", b + rows_b).string();
    labels_ = place_.write("Data_Entry.csv", labels).string();
  }
  [[nodiscard]] std::vector<std::string> compare(const std::string& a, const std::string& b,
                                                 const std::vector<std::string>& more = {}) const {
    return plus({"compare", a, b, "--labels", labels_, "--replicates", "200", "--threads", "1"}, more);
  }

  Workplace place_;
  std::string a_;
  std::string b_;
  std::string labels_;
};

TEST_F(Compare, finds_the_worse_model_and_says_by_how_much) {
  const Ended run =
      place_.must_run(compare(a_, b_, {"--json", place_ / "compare.json", "--csv", place_ / "compare.csv"}));
  EXPECT_THAT(run.out, HasSubstr("120 images of 60 patients, list "));
  EXPECT_THAT(run.out, Not(HasSubstr("validation images")));
  EXPECT_THAT(run.out, HasSubstr("(not a published list)"));
  EXPECT_THAT(run.out, HasSubstr("paired percentile bootstrap over 60 patients, 200 replicates, seed 0"));
  EXPECT_THAT(run.out, HasSubstr("left out of the mean: Hernia."));
  EXPECT_THAT(run.out, Not(HasSubstr("10000")));  // names no patient and no image
  const Value json = read_json(place_ / "compare.json");
  const Value& mass = json.at("labels").at("Mass");
  EXPECT_LT(mass.at("delta").at("high").as_double(), 0.0);
  EXPECT_DOUBLE_EQ(mass.at("p").as_double(), 2.0 / 201.0);
  EXPECT_EQ(json.at("labels").at("Edema").at("delta").at("value").as_double(), 0.0) << "columns matched by name";
  EXPECT_EQ(json.at("labels").at("Edema").at("p").as_double(), 1.0);
  EXPECT_EQ(json.find("recipe"), nullptr);
  EXPECT_EQ(json.at("b").at("epoch_chosen_on_these_images"), Value(false));
  EXPECT_THAT(read_all(place_ / "compare.csv"), testing::StartsWith("label,auroc_a,auroc_b,delta,low,high,p,"));
}

TEST_F(Compare, of_a_file_with_itself_finds_exactly_nothing) {
  place_.must_run(compare(b_, b_, {"--json", place_ / "compare.json"}));
  const Value json = read_json(place_ / "compare.json");
  for (const Value* row : {&json.at("mean"), &json.at("labels").at("Mass")}) {
    EXPECT_EQ(row->at("delta").at("value").as_double(), 0.0);
    EXPECT_EQ(row->at("delta").at("low").as_double(), 0.0);
    EXPECT_EQ(row->at("p").as_double(), 1.0);
  }
}

TEST_F(Compare, refuses_what_cannot_be_compared) {
  expect_refusal(
      place_.run({"compare", a_, b_}),
      {"--labels PATH, once or twice, or runs with one data folder, got no --labels, and 0 data folders for "});
  expect_refusal(place_.run({"compare", a_}), {"compare: B is missing"});
  const fs::path fewer = place_.write("fewer.csv",
                                      "Image Index,prob_Mass,prob_Edema,prob_Hernia\n"
                                      "00010000_000.png,0.5,0.5,0.5\n00099999_000.png,0.5,0.5,0.5\n");
  expect_refusal(place_.run(compare(a_, fewer)),
                 {"fewer.csv: expected the 120 images of ", "got 2 images (list ", "of which 1 are the same"});
  const fs::path other = place_.write("other.csv", "Image Index,prob_Mass\n00010000_000.png,0.5\n");
  expect_refusal(place_.run(compare(a_, other)), {"the 3 labels of ", "got 1 label, of which 1 are the same: Mass"});
  std::string changed = read_all(labels_);
  changed.replace(changed.find("No Finding"), 10, "Mass|Edema");
  const fs::path version = place_.write("version.csv", changed);
  expect_refusal(place_.run(compare(a_, b_, {"--labels", version})),
                 {"expected the same true labels as A, got 2 of 360 labels that differ, in 1 of 120 images"});
  fs::create_directories(place_ / "empty");
  expect_refusal(place_.run(compare(a_, place_ / "empty")), {"a run folder with preds.csv and recipe.toml, got no"});
  expect_refusal(place_.run(compare(a_, b_, {"--csv", labels_})), {"--csv ", "got that of --labels"});
  expect_refusal(place_.run(compare(a_, b_, {"--json", b_})), {"--json ", "got that of B"});
}

// Predictions of one seed of a recipe: Mass and Edema are scored with noise of this size, drawn by `salt`.
std::string seed_of(double noise, int salt) {
  std::string text = "Image Index,prob_Mass,prob_Edema,prob_Hernia\n";
  for (int i = 0; i < 2 * kPatients; ++i) {
    const int patient = 10000 + i / 2;
    const double drawn = ((i + 31) * (salt + 7) * 7919 % 1009) / 1009.0;
    const double mass = (patient % 3 == 0 ? 0.5 : 0.2) + noise * drawn;
    std::ostringstream row;
    row << "000" << patient << "_00" << i % 2 << ".png," << mass / 2.0 << "," << drawn << ",0.1\n";
    text += row.str();
  }
  return text;
}

TEST_F(Compare, of_several_seeds_is_of_recipes) {
  std::string good, bad;
  for (const int salt : {1, 2, 3}) {
    const std::string number = std::to_string(salt);
    good += (good.empty() ? "" : ",") + place_.write("good" + number + ".csv", seed_of(0.3, salt)).string();
    bad += (bad.empty() ? "" : ",") + place_.write("bad" + number + ".csv", seed_of(1.4, 10 + salt)).string();
  }
  const Ended run =
      place_.must_run(compare(good, bad, {"--json", place_ / "seeds.json", "--csv", place_ / "seeds.csv"}));
  EXPECT_THAT(run.out, HasSubstr("(3 seeds)"));
  EXPECT_THAT(run.out, HasSubstr("are of recipes, over seeds and patients: 3 seeds of A, 3 seeds of B, 60 patients"));
  EXPECT_THAT(run.out, HasSubstr("sd A"));
  const Value json = read_json(place_ / "seeds.json");
  EXPECT_EQ(json.at("intervals_cover"), Value("seeds and patients"));
  EXPECT_EQ(json.at("a").at("predictions_sha256").as_array().size(), 3U);
  const Value& mass = json.at("labels").at("Mass");
  EXPECT_LT(mass.at("delta").at("high").as_double(), 0.0);
  EXPECT_LT(mass.at("p").as_double(), 0.05);
  EXPECT_GT(mass.at("sd_b").as_double(), 0.0);
  // With one seed of A and three of B, intervals are over patients only.
  const std::string first = good.substr(0, good.find(','));
  const Ended one = place_.must_run(compare(first, bad, {"--json", place_ / "one.json"}));
  EXPECT_THAT(one.out, HasSubstr("They cover patients, not seeds (one seed of A, 3 seeds of B)"));
  EXPECT_EQ(read_json(place_ / "one.json").at("intervals_cover"), Value("patients"));
  EXPECT_THAT(place_.must_run(compare(a_, b_)).out, HasSubstr("They cover patients, not seeds (one seed of A, one"));

  expect_refusal(place_.run(compare(good + ",", bad)), {"separated by commas, got an empty name"});
  expect_refusal(place_.run(compare(first + "," + first, bad)), {"A: ", "another seed than ", "the same predictions"});
  expect_refusal(place_.run(compare(first + ",none.csv", bad)), {"none.csv"});
  expect_refusal(place_.run(compare(good, bad, {"--csv", place_ / "bad2.csv"})), {"bad2.csv"});
  const fs::path fewer =
      place_.write("fewer.csv", "Image Index,prob_Mass,prob_Edema,prob_Hernia\n00010000_000.png,0.5,0.5,0.5\n");
  expect_refusal(place_.run(compare(good, bad + "," + fewer.string())), {"fewer.csv: expected the 120 images of "});
  expect_refusal(place_.run(compare(good + "," + fewer.string(), bad)), {"fewer.csv: expected the 120 images of "});
}

TEST_F(Compare, takes_an_average_of_predictions) {
  const std::vector<std::string> eval{"eval", "--labels", labels_, "--replicates", "0", "--predictions"};
  const Ended run = place_.must_run(
      plus(eval, {a_, "--predictions", b_, "--preds", place_ / "mean.csv", "--json", place_ / "mean.json"}));
  EXPECT_THAT(run.out, HasSubstr("predictions: mean of 2 files (a.csv, b.csv), 120 images"));
  EXPECT_EQ(read_json(place_ / "mean.json").at("predictions").at("files"), Value(2));
  EXPECT_THAT(read_all(place_ / "mean.csv"), HasSubstr(",0.150000006\n"));  // mean of 0.1 and 0.2 for Hernia
  place_.must_run(compare(a_, place_ / "mean.csv", {"--json", place_ / "compare.json"}));
  const double mean = read_json(place_ / "mean.json").at("auroc").at("labels").at("Mass").at("auroc").as_double();
  EXPECT_EQ(read_json(place_ / "compare.json").at("labels").at("Mass").at("b").at("value").as_double(), mean);
  const fs::path fewer = place_.write("fewer.csv",
                                      "Image Index,prob_Mass,prob_Edema,prob_Hernia\n"
                                      "00010000_000.png,0.5,0.5,0.5\n");
  expect_refusal(place_.run(plus(eval, {a_, "--predictions", fewer})),
                 {"fewer.csv: expected the 120 images of a.csv", "got 1 image "});
  expect_refusal(place_.run(plus(eval, {a_, "--predictions", b_, "--preds", b_})), {"got that of --predictions"});
}

TEST(CompareRuns, of_two_seeds_say_what_they_are) {
  const Workplace place;
  const fs::path data = place.synth("data", 120);
  place.must_run(plus(place.train_arguments(data, "runs"), {"--set", "train.epochs=1", "--seeds", "0,1"}));
  EXPECT_THAT(place
                  .must_run({"compare", place / "runs/seed-0", place / "runs/seed-1", "--labels",
                             data / "Data_Entry_2017_v2020.csv", "--replicates", "20"})
                  .out,
              HasSubstr("Only the seed differs: differences show the randomness of training"));
  // Compares the folder of both seeds with another recipe. The changed keys are named, but not the seed.
  place.must_run(plus(place.train_arguments(data, "others"),
                      {"--set", "train.epochs=1", "--set", "optimizer.lr=0.002", "--seeds", "5,6"}));
  const std::string labels = data / "Data_Entry_2017_v2020.csv";
  const Ended run = place.must_run({"compare", place / "runs", place / "others", "--labels", labels, "--replicates",
                                    "20", "--json", place / "recipes.json"});
  EXPECT_THAT(run.out, HasSubstr("2 seeds of A, 2 seeds of B"));
  EXPECT_THAT(run.out, HasSubstr("\noptimizer.lr  "));
  EXPECT_THAT(run.out, Not(HasSubstr("\ntrain.seed  ")));
  EXPECT_EQ(read_json(place / "recipes.json").at("recipe").as_table().size(), 1U);
  const std::string mixed = (place / "runs/seed-0").string() + "," + (place / "others/seed-5").string();
  expect_refusal(place.run({"compare", mixed, place / "others", "--labels", labels}),
                 {"A: ", "except for train.seed, got a different optimizer.lr"});
  expect_refusal(place.run({"compare", place / "runs", place / "others", "--labels", labels, "--csv",
                            place / "runs/seed-1/preds.csv"}),
                 {"preds.csv", "which belongs to a run"});
}

TEST(CompareRuns, shows_in_which_keys_recipes_differ) {
  const Workplace place;
  const fs::path data = place.synth("data", 240);
  const fs::path labels = data / "Data_Entry_2017_v2020.csv";
  place.must_run(plus(place.train_arguments(data, "a"), {"--set", "train.epochs=1"}));
  place.must_run(plus(place.train_arguments(data, "b"),
                      {"--set", "train.epochs=1", "--set", "train.seed=7", "--set", "optimizer.lr=0.002"}));
  const Ended run = place.must_run({"compare", place / "a", place / "b", "--labels", labels, "--replicates", "100",
                                    "--json", place / "compare.json"});
  EXPECT_THAT(run.out, HasSubstr("\nvalidation images of A and B: the best epoch was chosen on them"));
  EXPECT_EQ(read_json(place / "compare.json").at("a").at("epoch_chosen_on_these_images"), Value(true));
  EXPECT_THAT(run.out, HasSubstr("\ntrain.seed  "));
  EXPECT_THAT(run.out, Not(HasSubstr("train.batch")));
  const Value recipe = read_json(place / "compare.json").at("recipe");
  EXPECT_EQ(recipe.as_table().size(), 2U);
  EXPECT_EQ(recipe.at("train.seed").at("b"), Value(7));
  EXPECT_THAT(run.out, Not(HasSubstr("Only the seed differs")));
  // Without --labels, the labels are those of the runs' data folder.
  place.must_run({"compare", place / "a", place / "b", "--replicates", "100", "--json", place / "own.json"});
  EXPECT_EQ(read_json(place / "own.json").at("mean"), read_json(place / "compare.json").at("mean"));
  place.write("b/data_folders.txt", "/another\n");
  expect_refusal(place.run({"compare", place / "a", place / "b"}),
                 {"one data folder of all runs, " + data.string() + " as for ", "no --labels, and /another for "});
  // A run and a prediction file: there are no two recipes to compare.
  const Ended mixed = place.must_run({"compare", place / "a", place / "a/preds.csv", "--labels", labels, "--replicates",
                                      "10", "--json", place / "mixed.json"});
  EXPECT_THAT(mixed.out, Not(HasSubstr("\nrecipe")));
  EXPECT_THAT(mixed.out, HasSubstr("\nvalidation images of A: "));
  const Value mean = read_json(place / "mixed.json").at("mean");
  EXPECT_EQ(mean.at("delta").at("value").as_double(), 0.0);
  // Among two dozen images, some findings occur in too few patients for a test.
  EXPECT_TRUE(mean.at("p").is_null());
  EXPECT_THAT(mean.at("delta").at("no_interval").as_string(), HasSubstr("too few patients"));
  EXPECT_THAT(mixed.out, HasSubstr("No interval and no p, a finding in it has too few patients: mean."));
  expect_refusal(place.run({"compare", place / "a", place / "b", "--labels", labels, "--csv", place / "b/preds.csv"}),
                 {"a file that nothing else uses"});

  // With test-time augmentation, the same weights give other probabilities, and the result records it.
  const std::vector<std::string> eval{
      "eval", "--checkpoint", place / "a/checkpoints/best.safetensors", "--data", data, "--replicates", "0"};
  place.must_run(plus(eval, {"--preds", place / "none.csv", "--json", place / "none.json"}));
  const Ended flip =
      place.must_run(plus(eval, {"--tta", "flip", "--preds", place / "flip.csv", "--json", place / "flip.json"}));
  EXPECT_THAT(flip.out, HasSubstr("test-time augmentation flip: mean probability of the picture and its mirror image"));
  EXPECT_NE(read_all(place / "none.csv"), read_all(place / "flip.csv"));
  EXPECT_EQ(read_json(place / "flip.json").at("tta").at("views"), Value(2));
  EXPECT_EQ(read_json(place / "none.json").at("tta").at("name"), Value("none"));
  expect_refusal(place.run(plus(eval, {"--tta", "six-crop"})),
                 {"expected one of none, flip, five-crop, ten-crop, got six-crop"});
  expect_refusal(place.run({"eval", "--predictions", place / "none.csv", "--labels", labels, "--tta", "flip"}),
                 {"also --checkpoint FILE"});
}

}  // namespace
}  // namespace roentgen::e2e
