// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests two data sets used as one, from inspect to evaluation on one of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/value.h"
#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

using testing::HasSubstr;

class SeveralSources : public testing::Test {
 protected:
  SeveralSources() {
    first_ = place_.synth("first", 60);
    place_.must_run(
        {"synth", (place_ / "second").string(), "--images", "60", "--size", "32", "--seed", "4", "--labels", "csv"});
    train_ = plus(place_.train_arguments("a=" + first_.string(), "run"),
                  {"--data", "b=" + (place_ / "second").string(), "--set",
                   "data.labels=[\"Pleural Effusion\",\"Mass\"]", "--set", "train.epochs=1"});
  }
  Workplace place_;
  std::filesystem::path first_;
  std::vector<std::string> train_;
};

TEST_F(SeveralSources, train_one_network_that_is_evaluated_on_each) {
  place_.must_run(train_);
  const std::string best = (place_ / "run/checkpoints/best.safetensors").string();
  const std::string a = "a=" + first_.string(), b = "b=" + (place_ / "second").string();
  const std::vector<std::string> eval{"eval", "--checkpoint", best, "--replicates", "0"};
  const Ended both = place_.must_run(plus(eval, {"--data", a, "--data", b, "--by", "source"}));
  EXPECT_THAT(both.out, HasSubstr("\nsource  images"));
  EXPECT_THAT(both.out, HasSubstr("\nb "));
  EXPECT_THAT(place_.must_run(plus(eval, {"--data", b})).out, HasSubstr("leak check: none of"));
  // Patients of data set `a` are known by its name. Evaluating the whole set would include those of the training
  // images.
  expect_refusal(place_.run(plus(eval, {"--data", a, "--set", "data.split=whole"})),
                 {"no patient of the training set"});
  expect_refusal(place_.run(plus(eval, {"--data", first_.string()})),
                 {"[data.sources] --data", "a, b", "data.sources=[]"});
}

TEST_F(SeveralSources, is_seen_by_inspect) {
  place_.must_run({"inspect", "--data", first_.string(), "--data", (place_ / "second").string(), "--set",
                   "data.labels=[\"Mass\"]", "--pixels", "--json", (place_ / "set.json").string()});
  const Value set = read_json(place_ / "set.json");
  EXPECT_EQ(set.at("source").as_string(), "nih + csv");
  EXPECT_EQ(set.at("sources").as_array().size(), 2U);
  EXPECT_EQ(set.at("files").at("images").as_integer(), 120);
  EXPECT_EQ(set.at("files").at("broken").at("images").as_integer(), 0);
}

TEST_F(SeveralSources, inspect_counts_what_cannot_be_read_and_names_it_only_where_asked) {
  place_.write("second/images/00000001_000.png", "no image");
  const std::vector<std::string> arguments{"inspect", "--data", (place_ / "second").string(), "--set",
                                           "data.labels=[\"Mass\"]"};
  const Ended seen = place_.must_run(plus(arguments, {"--broken", (place_ / "broken.csv").string()}));
  EXPECT_THAT(seen.out, HasSubstr("1 of 60 images cannot be read"));
  EXPECT_THAT(seen.out, testing::Not(HasSubstr("00000001")));
  EXPECT_THAT(read_all(place_ / "broken.csv"), HasSubstr("images/00000001_000.png,"));
  EXPECT_THAT(place_.must_run(plus(arguments, {"--no-files"})).out, testing::Not(HasSubstr("broken")));
  expect_refusal(place_.run(plus(arguments, {"--no-files", "--pixels"})), {"inspect --no-files"});
  expect_refusal(place_.run(plus(arguments, {"--broken", (place_ / "second/b.csv").string()})), {"never written to"});
}

}  // namespace
}  // namespace roentgen::e2e
