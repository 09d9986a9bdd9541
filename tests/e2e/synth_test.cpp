// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests the options of roentgen synth, and that `train` reads the result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

TEST(Synth, labels_that_are_uncertain_or_blank_train_by_the_policy_asked_for) {
  const Workplace place;
  place.must_run({"synth", place / "data", "--images", "150", "--size", "32", "--labels", "csv", "--uncertain", "0.4",
                  "--blank", "0.3"});
  const std::string table = read_all(place / "data/labels.csv");
  EXPECT_THAT(table, HasSubstr(",-1"));
  EXPECT_THAT(table, HasSubstr(",,"));
  place.must_run(plus(place.train_arguments(place / "data", "run"),
                      {"--set", "train.epochs=1", "--set", "data.labels=[\"Effusion\",\"Infiltration\",\"Mass\"]"}));
  const Value counts = read_json(place / "run/data.json");
  EXPECT_EQ(counts.at("source").as_string(), "csv");
}

TEST(Synth, switches_stand_in_synth_json) {
  const Workplace place;
  place.must_run({"synth", place / "data", "--images", "60", "--size", "16", "--prevalence", "nih",
                  "--test-prevalence-factor", "1.5", "--ap", "1", "--shortcut", "0.8", "--shortcut-test", "-0.8",
                  "--pairs", "Infiltration,Effusion", "--masks"});
  const Value stored = read_json(place / "data/synth.json");
  EXPECT_EQ(stored.at("prevalence").as_string(), "nih");
  EXPECT_DOUBLE_EQ(stored.at("test_prevalence_factor").as_double(), 1.5);
  EXPECT_DOUBLE_EQ(stored.at("shortcut").as_double(), 0.8);
  EXPECT_DOUBLE_EQ(stored.at("test_shortcut").as_double(), -0.8);
  EXPECT_EQ(stored.at("pairs").as_array(), (Value::Array{"Effusion", "Infiltration"}));
  EXPECT_THAT(read_all(place / "data/truth.csv"), HasSubstr("Hernia,Tubes\n"));
  EXPECT_THAT(read_all(place / "data/Data_Entry_2017_v2020.csv"), testing::Not(HasSubstr(",PA,")));
  EXPECT_THAT(read_all(place / "data/pairs.csv"), HasSubstr(",pairs/Infiltration/"));
}

TEST(Synth, refuses_what_it_does_not_know_and_writes_nothing) {
  const Workplace place;
  const auto refused = [&](const std::vector<std::string>& more, const std::vector<std::string>& parts) {
    expect_refusal(place.run(plus({"synth", place / "data", "--images", "4", "--size", "16"}, more)), parts);
    EXPECT_FALSE(fs::exists(place / "data"));
  };
  refused({"--prevalence", "mine"}, {"--prevalence", "range or nih", "'mine'"});
  refused({"--labels", "txt"}, {"--labels", "nih or csv"});
  refused({"--shortcut", "much"}, {"--shortcut", "a number from -1 to 1"});
  refused({"--shortcut", "2"}, {"shortcut", "-1 to 1"});
  refused({"--shortcut-test", "0.5"}, {"test shortcut"});
  refused({"--pairs", "Mass,Gout"}, {"--pairs", "'Gout'", "Cardiomegaly"});
  refused({"--uncertain", "0.1"}, {"--labels csv"});
  refused({"--test-prevalence-factor", "9"}, {"test prevalence factor"});
}

}  // namespace
}  // namespace roentgen::e2e
