// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "cli/command_list.h"

namespace roentgen::cli {
namespace {

TEST(Doctor, says_of_each_engine_whether_it_is_there_and_else_why_not) {
  testing::internal::CaptureStdout();
  const Value report = make_doctor_command()->run().json;
  const std::string printed = testing::internal::GetCapturedStdout();
  const Value& cpu = report.at("engines").at("cpu");
  EXPECT_TRUE(cpu.at("available").as_bool());
  EXPECT_THAT(cpu.at("description").as_string(), testing::HasSubstr("oneDNN"));
  const Value& cuda = report.at("engines").at("cuda");
  EXPECT_NE(cuda.find(cuda.at("available").as_bool() ? "description" : "reason"), nullptr);
  EXPECT_THAT(printed, testing::HasSubstr("engines.cuda"));
  EXPECT_THAT(printed, testing::HasSubstr("libraries"));
  EXPECT_THAT(printed, testing::Not(testing::HasSubstr("{"))) << "JSON is for --json FILE";
}

}  // namespace
}  // namespace roentgen::cli
