// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include "cli/command_list.h"
#include "cli/doctor_hosts.h"
#include "core/error.h"
#include "engine/engine.h"
#include "engine/engine_list.h"

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
  ASSERT_EQ(report.at("engines").as_table().size(), engine::engine_names().size());
  for (const engine::EngineName& engine : engine::engine_names()) {
    const std::string_view name = engine.name;
    EXPECT_NE(report.at("engines").find(name), nullptr) << name;
    EXPECT_THAT(printed, testing::HasSubstr("engines." + std::string(name)));
  }
  EXPECT_THAT(printed, testing::HasSubstr("libraries"));
  EXPECT_THAT(printed, testing::HasSubstr("dicom"));
  EXPECT_THAT(report.at("dicom").at("description").as_string(), testing::HasSubstr("DCMTK"));
  EXPECT_THAT(printed, testing::HasSubstr("\nmpi "));
  const Value& mpi = report.at("mpi");
  EXPECT_NE(mpi.find(mpi.at("available").as_bool() ? "description" : "reason"), nullptr);
  if (mpi.at("available").as_bool()) {
    EXPECT_NE(mpi.find("cuda_aware"), nullptr);
  }
  EXPECT_THAT(printed, testing::HasSubstr("\nnccl "));
  const Value& nccl = report.at("nccl");
  EXPECT_NE(nccl.find(nccl.at("available").as_bool() ? "description" : "reason"), nullptr);
  EXPECT_THAT(printed, testing::HasSubstr("\nucx "));
  EXPECT_THAT(printed, testing::Not(testing::HasSubstr("{"))) << "JSON is for --json FILE";
}

TEST(Doctor, says_what_auto_stands_for_and_why_it_is_nothing_better) {
  testing::internal::CaptureStdout();
  const Value report = make_doctor_command()->run().json.at("device_auto");
  EXPECT_THAT(testing::internal::GetCapturedStdout(), testing::HasSubstr("\ndevice_auto"));
  const std::string device = report.at("device").as_string();
  EXPECT_EQ(report.find("not_" + device), nullptr);
  EXPECT_EQ(report.find("not_cuda") == nullptr, device == "cuda");
  EXPECT_EQ(report.find("not_cpu"), nullptr);
}

TEST(Doctor, finds_what_is_wrong_and_exits_with_an_error) {
  ::setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
  testing::internal::CaptureStdout();
  const CommandResult ill = make_doctor_command()->run();
  const std::string printed = testing::internal::GetCapturedStdout();
  ::unsetenv("CUDA_LAUNCH_BLOCKING");
  EXPECT_EQ(ill.exit_code, kFailure);
  EXPECT_THAT(printed, testing::HasSubstr("  try unset CUDA_LAUNCH_BLOCKING\n"));
  const auto& findings = ill.json.at("findings").as_array();
  EXPECT_TRUE(std::ranges::any_of(findings, [](const Value& finding) {
    return finding.at("ailment").as_string() == "launches_blocking" && finding.at("level").as_string() == "wrong";
  }));
  EXPECT_GT(ill.json.at("machine").at("system").at("memory_bytes").as_integer(), 0);
}

TEST(Doctor, formats_findings_as_paragraphs) {
  EXPECT_EQ(findings_text(Value::array()), "nothing is wrong\n");
  Value findings = Value::array();
  findings.push_back(Value::Table{{"ailment", "a"}, {"level", "advice"}, {"text", "b"}, {"remedy", "c"}});
  EXPECT_EQ(findings_text(findings), "advice: b\n  try c\n");
}

// The report must not mention --device, because doctor has no such option.
TEST(Doctor, names_no_option_that_it_lacks) {
  testing::internal::CaptureStdout();
  static_cast<void>(make_doctor_command()->run());
  EXPECT_THAT(testing::internal::GetCapturedStdout(), testing::Not(testing::HasSubstr("--device")));
}

TEST(Engines, of_an_unknown_name_are_refused_with_those_known) {
  try {
    static_cast<void>(engine::make_engine("tpu"));
    FAIL() << "an engine";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("expected auto, cpu, cuda or cuda:N, got tpu; try roentgen doctor"));
  }
}

}  // namespace
}  // namespace roentgen::cli
