// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/train_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace roentgen::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(TrainOptions, read_seeds) {
  EXPECT_THAT(parse_seeds("0,17,2"), ElementsAre(0, 17, 2));
  EXPECT_THAT(parse_seeds("5"), ElementsAre(5));
  for (const char* bad : {"", "1,", ",1", "1,1", "-1", "a", "1 ,2", "1.5", "2000000000"}) {
    try {
      static_cast<void>(parse_seeds(bad));
      FAIL() << bad;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), HasSubstr("distinct whole numbers"));
    }
  }
}

std::string refusal(const TrainOptions& options) {
  try {
    static_cast<void>(options.read_recipe());
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(TrainOptions, errors_name_the_option_that_was_typed) {
  TrainOptions typed{.recipe = "quickstart", .data = {"nowhere"}};
  typed.device = "gpu";
  EXPECT_EQ(refusal(typed),
            "[engine.device] --device gpu: train.device: expected auto, cpu, cuda or cuda:N, got gpu; try roentgen "
            "doctor, which shows what each device needs");
  typed.device.clear();
  typed.dtype = "bf15";
  EXPECT_EQ(
      refusal(typed),
      "[train.recipe] --dtype bf15: train.dtype: expected one of f32, tf32, bf16, f16, auto, got \"bf15\"; try --dtype "
      "bf16");
}

TEST(TrainOptions, errors_name_set_where_that_was_typed) {
  const TrainOptions set{.recipe = "quickstart", .data = {"nowhere"}, .overrides = {"train.device=gpu"}};
  EXPECT_THAT(refusal(set), HasSubstr("--set train.device=gpu: train.device: expected auto"));
}

}  // namespace
}  // namespace roentgen::cli
