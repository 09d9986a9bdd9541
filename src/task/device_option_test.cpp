// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "task/device_option.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "engine/engine.h"
#include "engine/engine_list.h"

namespace roentgen::task {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(DeviceOption, auto_is_the_last_engine_of_the_list_that_can_train) {
  const engine::DeviceChoice best = engine::resolve_device({});
  EXPECT_EQ(engine::why_not_auto(best.engine), "");
  bool is_behind = false;
  for (const engine::EngineName& each : engine::engine_names()) {
    if (is_behind) {
      EXPECT_NE(engine::why_not_auto(each.name), "") << each.name;
    }
    is_behind = is_behind || each.name == best.engine;
  }
  EXPECT_TRUE(is_behind);
  EXPECT_EQ(engine::make_engine("auto")->name(), best.engine);
}

TEST(DeviceOption, a_named_device_stays_as_it_is) {
  EXPECT_EQ(engine::resolve_device(engine::parse_device("cpu")).text(), "cpu");
  EXPECT_EQ(engine::resolve_device(engine::parse_device("cuda:9")).text(), "cuda:9");
  EXPECT_EQ(engine::make_engine("cpu")->name(), "cpu");
}

TEST(DeviceOption, of_a_card_that_is_not_there_is_refused_in_one_line) {
  try {
    static_cast<void>(engine::make_engine("cuda:1000"));
    FAIL() << "an engine";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("device cuda"));
    EXPECT_THAT(error.what(), HasSubstr("--device cpu"));
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
  }
}

TEST(DeviceOption, sets_the_variable_that_it_is_bound_to) {
  std::string device = "auto";
  const Option option = device_option(device, ": train.device");
  EXPECT_EQ(option.name, "--device");
  EXPECT_EQ(std::get<std::string*>(option.target), &device);
  EXPECT_THAT(option.doc, testing::EndsWith("cuda:N: train.device"));
}

}  // namespace
}  // namespace roentgen::task
