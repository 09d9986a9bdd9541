// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests roentgen eval --predictions: metrics of predictions made by another program or by roentgen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// Tables in NIH's format with `patients` patients of three images each, one finding that the model has learnt, and one
// rare finding. Shared by all tests.
struct Csvs {
  std::string predictions = "Image Index,prob_Mass,prob_Hernia\n";
  std::string labels = "Image Index,Finding Labels,Follow-up #,Patient ID,Patient Age,Patient Gender,View Position\n";
};

void add_patients(int first, int last, Csvs& csvs) {
  for (int patient = first; patient < last; ++patient) {
    for (int i = 0; i < 3; ++i) {
      std::ostringstream name;
      name << "000" << patient << "_00" << i << ".png";
      const int noise = patient * 7919 % 100 + 31 * i;
      const bool has_mass = patient % 3 == 0;
      csvs.predictions += name.str() + "," + std::to_string((has_mass ? 0.3 : 0.1) + noise % 60 / 100.0) + "," +
                          std::to_string(noise % 10 / 20.0) + "\n";
      csvs.labels += name.str() + (has_mass ? ",Mass|Edema," : ",No Finding,") + std::to_string(i / 2) + "," +
                     std::to_string(patient) + "," + std::to_string(20 + patient % 60) + "," +
                     (patient % 2 == 0 ? "M" : "F") + "," + (i == 0 ? "AP" : "PA") + "\n";
    }
  }
}

class EvalPredictions : public testing::Test {
 protected:
  EvalPredictions() {
    Csvs test;
    Csvs validation;
    add_patients(10000, 10060, test);
    validation.labels = test.labels;
    add_patients(20000, 20040, validation);
    test_ = place_.write("test.csv", test.predictions).string();
    validation_ = place_.write("val.csv", validation.predictions).string();
    labels_ = place_.write("Data_Entry.csv", validation.labels).string();
  }
  [[nodiscard]] std::vector<std::string> eval(const std::vector<std::string>& more) const {
    return plus({"eval", "--predictions", test_, "--labels", labels_, "--replicates", "50", "--threads", "1"}, more);
  }

  Workplace place_;
  std::string test_;
  std::string validation_;
  std::string labels_;
};

TEST_F(EvalPredictions, have_auroc_and_auprc_with_intervals_and_prevalence) {
  const Ended run = place_.must_run(eval({"--json", place_ / "eval.json"}));
  EXPECT_THAT(run.out, HasSubstr("predictions: 180 images, list "));
  EXPECT_THAT(run.out, HasSubstr("finding            AUROC     95% interval   AUPRC     95% interval  prev."));
  EXPECT_THAT(run.out, HasSubstr("percentile bootstrap over 60 patients, 50 replicates, seed 0"));
  EXPECT_THAT(run.out, Not(HasSubstr("10000")));  // names no patient and no image
  const Value json = read_json(place_ / "eval.json");
  EXPECT_GT(json.at("auroc").at("labels").at("Mass").at("auroc").as_double(), 0.6);
  const Value& hernia = json.at("metrics").at("auprc").at("labels").at("Hernia");
  EXPECT_TRUE(hernia.at("value").is_null());
  EXPECT_EQ(hernia.at("undefined"), Value("only one class is present"));
  EXPECT_GT(json.at("metrics").at("brier").at("labels").at("Mass").at("value").as_double(), 0.0);
}

TEST_F(EvalPredictions, of_one_class_only_have_a_warning) {
  const std::string only = place_.write("hernia.csv", "Image Index,prob_Hernia\n00010000_000.png,0.2\n").string();
  const Ended run = place_.must_run({"eval", "--predictions", only, "--labels", labels_, "--replicates", "10"});
  EXPECT_THAT(run.out, HasSubstr("mean over 0 of 1"));
  EXPECT_THAT(run.err, HasSubstr("no AUROC exists, because no label has both positive and negative images here"));
}

TEST_F(EvalPredictions, have_thresholds_and_temperature_from_validation_only) {
  const Ended with = place_.must_run(eval({"--validation", validation_, "--metrics", "all", "--threshold", "youden",
                                           "--save-points", place_ / "points.json", "--json", place_ / "a.json"}));
  EXPECT_THAT(with.out, HasSubstr("Thresholds: from validation (120 images of 40 patients) by largest Youden index"));
  EXPECT_THAT(with.out, HasSubstr("F1 undefined, no threshold: validation has only one class: Hernia."));
  EXPECT_TRUE(read_json(place_ / "a.json").at("metrics").at("f1").at("labels").at("Mass").at("low").is_double());

  place_.must_run(eval({"--points", place_ / "points.json", "--metrics", "all", "--json", place_ / "b.json"}));
  EXPECT_EQ(read_json(place_ / "b.json").at("metrics"), read_json(place_ / "a.json").at("metrics"));

  const Ended without = place_.must_run(eval({"--metrics", "all", "--json", place_ / "c.json"}));
  EXPECT_THAT(without.out,
              HasSubstr("No validation split beside what is evaluated: thresholds and temperature are never"));
  EXPECT_EQ(read_json(place_ / "c.json").at("metrics").find("f1"), nullptr);
  EXPECT_EQ(read_json(place_ / "c.json").at("metrics").find("brier_scaled"), nullptr);
}

TEST_F(EvalPredictions, of_a_checkpoint_have_the_same_figures_either_way) {
  const fs::path data = place_.synth("data", 240);
  place_.must_run(plus(place_.train_arguments(data, "run"), {"--set", "train.epochs=1"}));
  const std::vector<std::string> checkpoint{
      "eval", "--checkpoint", place_ / "run/checkpoints/best.safetensors", "--data", data, "--replicates", "20"};
  place_.must_run(plus(checkpoint, {"--split", "val", "--preds", place_ / "val_preds.csv"}));
  const Ended own = place_.must_run(plus(checkpoint, {"--metrics", "all", "--by", "view,sex", "--preds",
                                                      place_ / "preds.csv", "--json", place_ / "own.json"}));
  EXPECT_THAT(own.out, HasSubstr("Thresholds: from validation ("));
  place_.must_run({"eval", "--predictions", place_ / "preds.csv", "--labels", data / "Data_Entry_2017_v2020.csv",
                   "--validation", place_ / "val_preds.csv", "--metrics", "all", "--by", "view,sex", "--replicates",
                   "20", "--json", place_ / "files.json"});
  for (const char* key : {"auroc", "metrics", "points", "by", "bootstrap"}) {
    EXPECT_EQ(read_json(place_ / "own.json").at(key), read_json(place_ / "files.json").at(key)) << key;
  }
  EXPECT_THAT(place_.must_run(plus(checkpoint, {"--split", "val", "--metrics", "all"})).out,
              HasSubstr("No validation split beside what is evaluated"));
}

TEST_F(EvalPredictions, come_by_subgroup_and_by_study) {
  const Ended run = place_.must_run(eval({"--by", "view,sex,age", "--json", place_ / "eval.json"}));
  EXPECT_THAT(run.out, HasSubstr("\nAP        60        60    1 of 2  "));
  EXPECT_THAT(run.out, HasSubstr("\nPA       120        60    1 of 2  "));
  EXPECT_EQ(read_json(place_ / "eval.json").at("by").at("sex").at("F").at("images"), Value(90));
  const Ended studies = place_.must_run(eval({"--by", "study", "--aggregate", "mean"}));
  EXPECT_THAT(studies.out, HasSubstr("one row a study, mean: 120 studies\n"));
}

TEST_F(EvalPredictions, leave_curves_and_reliability_as_csv) {
  place_.must_run(eval({"--curves", place_ / "curves.csv", "--reliability", place_ / "reliability.csv", "--aucs",
                        place_ / "aucs.csv", "--preds", place_ / "preds.csv"}));
  EXPECT_THAT(read_all(place_ / "curves.csv"), HasSubstr("\nMass,inf,0,1,,0,0,60,120\n"));
  EXPECT_THAT(read_all(place_ / "reliability.csv"), HasSubstr("\nMass,raw,0.933333333,1,"));
  EXPECT_THAT(read_all(place_ / "aucs.csv"), HasSubstr("Hernia,\n"));
  // eval reads its own output and gives the same metrics.
  place_.must_run(eval({"--json", place_ / "a.json"}));
  place_.must_run({"eval", "--predictions", place_ / "preds.csv", "--labels", labels_, "--replicates", "50", "--json",
                   place_ / "b.json"});
  EXPECT_EQ(read_json(place_ / "a.json").at("auroc"), read_json(place_ / "b.json").at("auroc"));
}

TEST_F(EvalPredictions, are_refused_where_truth_does_not_match) {
  const std::string help = "; try roentgen eval --help";
  expect_refusal(place_.run({"eval", "--predictions", test_}), {"eval --predictions: --labels PATH is missing" + help});
  expect_refusal(place_.run({"eval", "--checkpoint", "c", "--data", "d", "--labels", labels_}), {"--predictions FILE"});
  expect_refusal(place_.run(eval({"--checkpoint", "c"})), {"a checkpoint or predictions, got both" + help});
  expect_refusal(place_.run(eval({"--set", "train.epochs=1"})), {"a recipe key of [data] other than data.labels"});
  expect_refusal(place_.run(eval({"--metrics", "some"})), {"got some; try one of default, all"});
  expect_refusal(place_.run(eval({"--threshold", "best"})), {"got best; try one of f1, youden"});
  expect_refusal(place_.run(eval({"--by", "view,weight"})), {"got weight; try one of view, sex, age, source, study"});
  expect_refusal(place_.run(eval({"--by", "view,study"})), {"view or study, got both"});
  expect_refusal(place_.run(eval({"--by", "study", "--aggregate", "sum"})), {"got sum; try one of max, mean"});
  expect_refusal(place_.run(eval({"--aggregate", "mean"})), {"--by study is missing"});
  expect_refusal(place_.run(eval({"--caffe-log", place_ / "caffe.log"})), {"which contains the number of updates"});
  expect_refusal(place_.run(eval({"--save-points", place_ / "p.json"})), {"a validation split", "got no such split"});

  const fs::path other = place_.write("other.csv", "Image Index,prob_Fracture\n00010000_000.png,0.5\n");
  expect_refusal(place_.run({"eval", "--predictions", other, "--labels", labels_}), {"the label Fracture"});
  const fs::path absent = place_.write("absent.csv", "Image Index,prob_Mass\n00099999_000.png,0.5\n");
  expect_refusal(place_.run({"eval", "--predictions", absent, "--labels", labels_}),
                 {"absent.csv: expected every image in Data_Entry.csv, got 1 of 1 images without a row there"});
}

TEST_F(EvalPredictions, choose_no_threshold_on_the_test) {
  expect_refusal(place_.run(eval({"--validation", test_})), {"no image of the test set, got 180 of 180"});
  place_.must_run({"eval", "--predictions", validation_, "--labels", labels_, "--validation", test_, "--save-points",
                   place_ / "points.json", "--replicates", "0"});
  expect_refusal(place_.run(eval({"--points", place_ / "points.json"})),
                 {"thresholds chosen on other images than the evaluated ones"});
  expect_refusal(place_.run({"eval", "--predictions", validation_, "--labels", labels_, "--points",
                             place_ / "points.json", "--by", "study"}),
                 {"study, max, got thresholds"});
}

}  // namespace
}  // namespace roentgen::e2e
