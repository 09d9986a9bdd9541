// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares the prediction of `doctor io` with the input pipeline, on emulated storage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "bench/cases/pipeline.h"
#include "bench/harness.h"
#include "bench/images_testing.h"
#include "cli/doctor_check.h"
#include "core/error.h"
#include "data/stage/storage_costs.h"

namespace roentgen::cli {
namespace {

using testing::HasSubstr;

/// Sets the value of an option.
template <typename T>
void set(DoctorCheck& check, const std::string& name, const T& value) {
  for (const Option& option : check.options()) {
    if (option.name == name) *std::get<T*>(option.target) = value;
  }
}

using DoctorIo = bench::ImagesTest;

// The machine may be busy in a part of the measurements, so both are repeated in turn.
TEST_F(DoctorIo, predicts_the_pipeline_on_slow_storage_within_a_tenth) {
  constexpr int kRounds = 3;
  const std::string storage = "open=20ms,opens_per_s=100";
  bench::InputOptions options = small();
  options.storage = data::parse_storage_costs(storage);
  options.steps = 100;
  std::vector<double> predicted;
  std::vector<double> measured;
  for (int round = 0; round < kRounds; ++round) {
    const auto check = make_doctor_io();
    set(*check, "DIR", images());
    set(*check, "--workers", std::int64_t{options.workers});
    set(*check, "--emulate-storage", storage);
    set(*check, "--images-per-s", 150.0);
    testing::internal::CaptureStdout();
    const CommandResult result = check->run("");
    const std::string printed = testing::internal::GetCapturedStdout();
    EXPECT_EQ(result.exit_code, kFailure) << "the storage is too slow for 150 images/s";
    EXPECT_THAT(printed, HasSubstr("\nwrong: input delivers "));
    EXPECT_THAT(printed, HasSubstr("  try roentgen convert DIR RECORDS"));
    predicted.push_back(result.json.at("predicted_images_per_s").as_double());
    measured.push_back(bench::run_pipeline(dataset_, options).at("images_per_s").as_double());
  }
  SCOPED_TRACE(testing::PrintToString(predicted) + " predicted, measured " + testing::PrintToString(measured));
  EXPECT_NEAR(bench::summarise(predicted).median / bench::summarise(measured).median, 1.0, 0.1);
}

TEST_F(DoctorIo, succeeds_where_input_is_fast_enough) {
  const auto check = make_doctor_io();
  set(*check, "DIR", images());
  set(*check, "--images-per-s", 1.0);
  testing::internal::CaptureStdout();
  const CommandResult result = check->run("");
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("\nenough: "));
  EXPECT_EQ(result.exit_code, kSuccess);
  EXPECT_TRUE(result.json.at("remedies").as_array().empty());
  EXPECT_GT(result.json.at("decode_cpu_share").as_double(), 0.0);
  EXPECT_LE(result.json.at("decode_cpu_share").as_double(), 1.0);
  EXPECT_EQ(result.json.at("needed").at("opens_per_s").as_double(), 1.0);
}

TEST_F(DoctorIo, refuses_no_folder_and_several_hosts) {
  const auto check = make_doctor_io();
  EXPECT_THROW(static_cast<void>(check->run("")), ConfigError);
  set(*check, "DIR", images());
  EXPECT_THROW(static_cast<void>(check->run("a,b")), ConfigError);
}

}  // namespace
}  // namespace roentgen::cli
