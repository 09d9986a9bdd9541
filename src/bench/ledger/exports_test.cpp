// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/ledger/exports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "bench/harness.h"
#include "bench/ledger/record_testing.h"
#include "core/error.h"
#include "core/folder_testing.h"
#include "io/file.h"
#include "io/json.h"

namespace roentgen::bench {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Value record() {
  return made_record(0, "0123456789", "step",
                     step_result(12.5, {{"ranks", 2},
                                        {"energy", Value::Table{{"seconds", 90.0}, {"images_per_joule", 0.5}}},
                                        {"samples", Value::Table{{"step_s", samples_of(std::vector{0.3, 0.4})}}}}))
      .value;
}

std::string text_of(const std::filesystem::path& file) { return io::read_text(file).or_throw<DataError>(); }

TEST(MlperfLog, has_lines_that_parse) {
  std::istringstream lines(mlperf_log(record()));
  std::vector<std::string> keys;
  constexpr std::string_view kBegin = ":::MLLOG ";
  Value last;
  for (std::string line; std::getline(lines, line);) {
    ASSERT_THAT(line, StartsWith(std::string(kBegin)));
    last = io::parse_json(line.substr(kBegin.size()), "line").or_throw<DataError>();
    for (const char* const key : {"namespace", "time_ms", "event_type", "key", "value", "metadata"}) {
      EXPECT_NE(last.find(key), nullptr) << key;
    }
    if (last.at("key").as_string() == "global_batch_size") {
      EXPECT_EQ(last.at("value").as_integer(), 8);
    }
    keys.push_back(last.at("key").as_string());
  }
  EXPECT_THAT(keys, testing::ElementsAre("submission_benchmark", "global_batch_size", "run_start", "tracked_stats",
                                         "tracked_stats", "run_stop"));
  EXPECT_EQ(last.at("time_ms").as_integer(), 1793491200000) << "2026-11-01T00:00:00Z";
  EXPECT_THAT(mlperf_log(record()), HasSubstr("1793491110000")) << "run_start, 90 s earlier";
  EXPECT_THAT(mlperf_log(record()), HasSubstr("\"throughput\":12.5"));
}

TEST(MlperfLog, of_a_failed_case_is_aborted) {
  Value failed = record();
  failed.set("passed", false);
  EXPECT_THAT(mlperf_log(failed), HasSubstr("\"status\":\"aborted\""));
  EXPECT_THAT(mlperf_log(record()), HasSubstr("\"status\":\"success\""));
  TemporaryFolder folder;
  EXPECT_THAT(text_of(write_mlflow_run(failed, folder.path()) / "meta.yaml"), HasSubstr("status: 4\n"));
  EXPECT_THAT(text_of(write_mlflow_run(record(), folder.path()) / "meta.yaml"), HasSubstr("status: 3\n"));
}

TEST(MlperfLog, has_no_batch_size_for_several_numbers_of_ranks) {
  Value several = record();
  several.set_path("result.points", Value(Value::Array{Value::Table{{"ranks", 1}}, Value::Table{{"ranks", 2}}}));
  EXPECT_THAT(mlperf_log(several), testing::Not(HasSubstr("global_batch_size")));
}

TEST(MlflowRun, has_the_files_of_a_file_store) {
  TemporaryFolder folder;
  const std::filesystem::path run = write_mlflow_run(record(), folder.path() / "mlruns");
  EXPECT_EQ(text_of(run / "metrics/images_per_s"), "1793491200000 12.5 0\n");
  EXPECT_EQ(text_of(run / "metrics/samples.step_s"), "1793491200000 0.3 0\n1793491200000 0.4 1\n");
  EXPECT_EQ(text_of(run / "params/model"), "resnet50");
  EXPECT_EQ(io::read_json(run / "artifacts/record.json").or_throw<DataError>(), record());
  EXPECT_EQ(text_of(run / "tags/mlflow.source.git.commit"), "0123456789");
  EXPECT_THAT(text_of(run / "meta.yaml"), HasSubstr("run_id: " + run.filename().string()));
  EXPECT_THAT(text_of(run.parent_path() / "meta.yaml"), HasSubstr("name: roentgen-bench\n"));
}

TEST(MlflowRun, keeps_runs_of_other_records) {
  TemporaryFolder folder;
  const auto first = write_mlflow_run(record(), folder.path());
  const auto second = write_mlflow_run(made_record(1, "b", "step", step_result(1.0)).value, folder.path());
  EXPECT_NE(first, second);
  EXPECT_EQ(first.parent_path(), second.parent_path());
  EXPECT_TRUE(std::filesystem::exists(first / "meta.yaml"));
}

TEST(MlflowRun, changes_names_that_would_leave_its_folder) {
  TemporaryFolder folder;
  Value result = step_result(1.0, {{"../../up", "x"}});
  const auto run = write_mlflow_run(made_record(0, "a", "step", result).value, folder.path() / "store");
  EXPECT_TRUE(std::filesystem::exists(run / "params/.._.._up"));
}

TEST(MlflowRun, has_the_samples_of_rows) {
  TemporaryFolder folder;
  const Value run = Value::Table{{"ranks", 2}, {"samples", Value::Table{{"step_s", samples_of(std::vector{0.5})}}}};
  const Value result = Value::Table{{"points", Value::Array{run}}};
  const auto written = write_mlflow_run(made_record(0, "a", "short", result).value, folder.path());
  EXPECT_EQ(text_of(written / "metrics/points_ranks_2_ samples.step_s"), "1793491200000 0.5 0\n");
}

TEST(PlainRecord, tells_settings_figures_and_samples_apart) {
  const Value plain = plain_record(record());
  EXPECT_EQ(plain.at("settings"), Value(Value::Table{{"batch", 4}, {"model", "resnet50"}, {"ranks", 2}}));
  EXPECT_EQ(plain.at("figures"), Value(Value::Table{{"images_per_s", 12.5}, {"energy images_per_joule", 0.5}}));
  EXPECT_EQ(plain.at("samples"), Value(Value::Table{{"samples.step_s", samples_of(std::vector{0.3, 0.4})}}));
  EXPECT_EQ(plain.at("begin_s").as_double(), 1793491110.0) << "90 s before the date";
  EXPECT_EQ(plain.at("command").as_string(), "roentgen bench step");
}

TEST(PlainRecord, has_an_id_of_the_content) {
  EXPECT_EQ(plain_record(record()).at("id"), plain_record(record()).at("id"));
  EXPECT_NE(plain_record(record()).at("id"),
            plain_record(made_record(1, "b", "step", step_result(1.0)).value).at("id"));
}

}  // namespace
}  // namespace roentgen::bench
