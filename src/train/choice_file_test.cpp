// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/choice_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/error.h"
#include "core/folder_testing.h"
#include "engine/plan.h"
#include "io/file.h"
#include "train/ranks.h"
#include "train/ranks_testing.h"
#include "train/recipe.h"

namespace roentgen::train {
namespace {

using testing::HasSubstr;

const std::map<std::string, std::string> kAlgorithms{{"a layer", "direct"}, {"another", "winograd"}};

std::string refusal_of(const std::string& text) {
  try {
    static_cast<void>(parse_choice_file(text, "choices.json"));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "taken";
}

TEST(ChoiceFile, comes_back_as_it_was_written) {
  const std::string text = choice_file_text(kAlgorithms);
  const ChoiceFile read = parse_choice_file(text, "choices.json");
  EXPECT_EQ(read.algorithms, kAlgorithms);
  EXPECT_THAT(read.sha256, testing::MatchesRegex("[0-9a-f]{64}"));
  EXPECT_NE(parse_choice_file(choice_file_text({{"a layer", "direct"}}), "x").sha256, read.sha256);
}

TEST(ChoiceFile, that_is_none_is_refused_by_name) {
  EXPECT_THAT(refusal_of("[]"), HasSubstr("[train.choices] choices.json: expected a JSON object"));
  EXPECT_THAT(refusal_of("{}"), HasSubstr("choices.json: expected version 1, got none"));
  EXPECT_THAT(refusal_of(R"({"version": 2, "choices": {}})"), HasSubstr("expected version 1, got 2"));
  EXPECT_THAT(refusal_of(R"({"version": 1})"), HasSubstr("expected a JSON object under the key choices, got none"));
  EXPECT_THAT(refusal_of(R"({"version": 1, "choices": {}})"), HasSubstr("at least one choice, got none"));
  EXPECT_THAT(refusal_of(R"({"version": 1, "choices": {"a": 1}})"),
              HasSubstr("the name of an algorithm for layer a, got 1"));
}

TEST(ChoiceFile, with_unknown_keys_is_refused) {
  EXPECT_THAT(refusal_of(R"({"version": 1, "choices": {"a": "direct"}, "note": "x"})"),
              HasSubstr("expected no keys except version and choices, got note"));
}

TEST(ChoiceFile, is_for_the_rule_alone) {
  TrainRecipe recipe{.algorithms = "direct"};
  EXPECT_NO_THROW(require_rule(recipe));
  recipe.choices = "choices.json";
  EXPECT_THROW(require_rule(recipe), ConfigError);
  recipe.algorithms = "auto";
  EXPECT_NO_THROW(require_rule(recipe));
}

TEST(ChoiceFile, that_is_cut_short_is_refused) {
  const std::string text = choice_file_text(kAlgorithms);
  for (std::size_t length = 0; length + 2 < text.size(); ++length) {
    EXPECT_NE(refusal_of(text.substr(0, length)), "taken") << length;
  }
}

TEST(ChoiceFile, is_read_by_rank_0_for_all) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "choices.json";
  io::write_file_atomically(path, choice_file_text(kAlgorithms));
  expect_none(as_ranks(3, [&](dist::CommThread& comm) {
    const auto own = comm.rank() == 0 ? path : folder.path() / "only rank 0 has it";
    EXPECT_EQ(shared_choice_file(Ranks(&comm), own).algorithms, kAlgorithms);
  }));
  EXPECT_THROW(static_cast<void>(shared_choice_file(Ranks(nullptr), folder.path() / "absent.json")), ConfigError);
}

TEST(ChoiceFile, without_any_layer_of_the_network_is_refused) {
  engine::Plan plan;
  plan.choices = {{"conv/forward", "direct"}};
  plan.measured_choices = 1;
  tell_of_measured(plan, "choices.json");
  plan.measured_choices = 0;
  EXPECT_THROW(tell_of_measured(plan, "choices.json"), ConfigError);
}

}  // namespace
}  // namespace roentgen::train
