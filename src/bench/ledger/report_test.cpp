// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/ledger/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "bench/ledger/record_testing.h"
#include "core/folder_testing.h"
#include "io/csv.h"

namespace roentgen::bench {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

Value profile() {
  Value rows = Value::array();
  rows.push_back(Value::Table{{"kind", "conv2d_forward"}, {"share", 0.6}, {"gflops", 200.0}, {"gb_per_s", 4.0}});
  rows.push_back(Value::Table{{"kind", "relu"}, {"share", 0.1}, {"gflops", Value()}, {"gb_per_s", 9.0}});
  return rows;
}

std::vector<StoredRecord> records() {
  const Value energy = Value::Table{{"watts", 48.0}, {"images_per_joule", 0.25}};
  const Value peak = Value::Table{{"gflops", 400.0}, {"gb_per_s", 20.0}};
  const Value first = step_result(10.0, {{"image_px", 224}});
  const Value second = step_result(12.0, {{"image_px", 224}, {"profile", profile()}, {"energy", energy}});
  return {made_record(0, "aaaaaaaaaaaa", "step", first), made_record(1, "bbbbbbbbbbbb", "step", second),
          made_record(2, "bbbbbbbbbbbb", "peak", Value::Table{{"peak", peak}, {"run_ms", 2.0}})};
}

const ReportTable& table_of(const BenchReport& report, const std::string& name) {
  return *std::ranges::find(report.tables, name, &ReportTable::name);
}

TEST(BenchReport, has_medians_with_the_command_of_the_latest_record) {
  const BenchReport report = make_report(records(), "page.html");
  const ReportTable& throughput = table_of(report, "throughput");
  ASSERT_THAT(throughput.rows, SizeIs(1));
  EXPECT_THAT(throughput.rows[0], testing::ElementsAre("step", "images_per_s", "11", "10", "12", "2", "bbbbbbbbbbbb",
                                                       "0123456789ab", "roentgen bench step"));
  EXPECT_EQ(table_of(report, "energy").rows.at(0).at(2), "0.25");
  EXPECT_EQ(table_of(report, "other").rows.at(0).at(1), "run_ms");
  EXPECT_EQ(table_of(report, "roofline").rows.at(0).at(2), "50") << "FLOP per byte; kinds without FLOPs are left out";
  for (const char* const name : {"throughput", "roofline", "energy", "other"}) {
    for (const auto& row : table_of(report, name).rows) EXPECT_THAT(row.back(), HasSubstr("roentgen bench")) << name;
  }
}

TEST(BenchReport, page_is_self_contained_and_has_plots) {
  const std::string page = make_report(records(), "page.html").html;
  EXPECT_THAT(page, AllOf(HasSubstr(">Throughput<"), HasSubstr("resnet50, 224 px: efficiency"), HasSubstr("Roofline"),
                          HasSubstr("<h3>resnet50, 1 device: 12 images/s on "),
                          HasSubstr("measured limits: 400 GFLOP/s, 20 GB/s"), HasSubstr("images per joule"),
                          HasSubstr("</html>")));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("src=")), Not(HasSubstr("href=\"http"))));
}

TEST(BenchReport, roofline_has_no_limits_of_other_threads) {
  const Value peak = Value::Table{{"gflops", 400.0}, {"gb_per_s", 20.0}};
  const Value infer = step_result(12.0, {{"threads", 2}, {"profile", profile()}});
  const auto page_with = [&](std::int64_t threads) {
    const Value step = step_result(10.0, {{"threads", threads}, {"peak", peak}});
    return make_report({made_record(0, "aaaaaaaaaaaa", "infer", infer), made_record(1, "aaaaaaaaaaaa", "step", step)},
                       "page.html")
        .html;
  };
  EXPECT_THAT(page_with(1), AllOf(HasSubstr("kinds of kernels"), Not(HasSubstr("measured limits"))));
  EXPECT_THAT(page_with(2), HasSubstr("measured limits"));
}

TEST(BenchReport, without_energy_or_profiles_says_how_to_get_them) {
  const std::string page = make_report({records()[0]}, "page.html").html;
  EXPECT_THAT(page, AllOf(HasSubstr("roentgen bench step --profile"), HasSubstr("neither NVML nor RAPL")));
}

TEST(BenchReport, scaling_has_plots_of_measured_models_and_folds_other_published_speeds) {
  Value points = Value::array();
  points.push_back(Value::Table{{"ranks", 1}, {"images_per_s", 10.0}});
  points.push_back(Value::Table{{"ranks", 2}, {"images_per_s", 18.0}});
  const Value result = Value::Table{{"model", "resnet18"}, {"image_px", 32}, {"points", points}};
  const std::string page = make_report({made_record(0, "a", "short", result)}, "page.html").html;
  EXPECT_THAT(page, AllOf(HasSubstr("resnet18, 32 px: efficiency"), Not(HasSubstr("resnet50, "))));
  EXPECT_THAT(page, AllOf(HasSubstr("None of our training speeds has a published"), HasSubstr("<details><summary>")));
}

TEST(BenchReport, links_to_its_csv_files_and_keeps_options_on_one_line) {
  StoredRecord record = records()[0];
  record.value.set("command", Value::Array{"roentgen", "bench", "step", "--batch", "4"});
  const std::string page = make_report({record}, "a folder/my page.html").html;
  EXPECT_THAT(page, HasSubstr("<a href=\"my page_throughput.csv\">"));
  EXPECT_THAT(page, HasSubstr("<code>roentgen bench step <span>--batch</span> 4</code>"));
}

TEST(BenchReport, scaling_joins_no_speeds_of_different_settings) {
  const auto speed = [](std::int64_t minute, const char* case_name, Value::Table more) {
    return made_record(minute, "a", case_name, step_result(10.0, std::move(more)));
  };
  const StoredRecord one = speed(0, "short", {{"ranks", 1}, {"dtype", "f32"}});
  EXPECT_THAT(make_report({one, speed(1, "short", {{"ranks", 2}, {"dtype", "f32"}})}, "page.html").html,
              HasSubstr("resnet50: efficiency"));
  EXPECT_THAT(make_report({one, speed(1, "short", {{"ranks", 2}, {"dtype", "bf16"}})}, "page.html").html,
              Not(HasSubstr("resnet50: efficiency")));
  EXPECT_THAT(make_report({one, speed(1, "long", {{"ranks", 2}, {"dtype", "f32"}})}, "page.html").html,
              Not(HasSubstr("resnet50: efficiency")));
}

TEST(BenchReport, plots_the_efficiency_of_the_record) {
  const auto page_of = [](const Value& efficiency) {
    Value points = Value::array();
    points.push_back(Value::Table{{"ranks", 1}, {"images_per_s", 10.0}});
    points.push_back(Value::Table{{"ranks", 2}, {"images_per_s", 18.0}, {"efficiency", efficiency}});
    const Value result = Value::Table{{"model", "resnet18"}, {"points", points}};
    const std::string page = make_report({made_record(0, "a", "scaling", result)}, "page.html").html;
    return page.substr(page.find("aria-label=\"resnet18: efficiency\""));
  };
  EXPECT_THAT(page_of(Value()), HasSubstr("<title>2 devices: 0.9</title>"));
  EXPECT_THAT(page_of(0.8), HasSubstr("<title>2 devices: 0.8</title>"));
}

TEST(BenchReport, rows_of_one_case_share_their_command) {
  Value rows = Value::array();
  for (const int batch : {1, 2, 4}) rows.push_back(Value::Table{{"batch", batch}, {"images_per_s", 5.0}});
  const Value result = Value::Table{{"rows", rows}};
  const std::string page = make_report({made_record(0, "a", "sweep", result)}, "page.html").html;
  EXPECT_THAT(page, HasSubstr("<td rowspan=\"3\"><code>roentgen bench sweep</code></td>"));
  EXPECT_EQ(page.find("roentgen bench sweep"), page.rfind("roentgen bench sweep", page.find("id=\"settings\"")));
}

TEST(BenchReport, has_the_limits_of_the_machine_of_a_profile) {
  std::vector<StoredRecord> both = records();
  both[2].value.set("host", "another");
  EXPECT_THAT(make_report(both, "page.html").html, Not(HasSubstr("measured limits")));
}

TEST(BenchReport, escapes_texts_of_records) {
  const Value result = step_result(1.0, {{"model", "<script>alert(1)</script>"}});
  const StoredRecord other = made_record(1, "b", "step", step_result(1.0));
  EXPECT_THAT(make_report({made_record(0, "a", "step", result), other}, "page.html").html, Not(HasSubstr("<script")));
}

TEST(BenchReport, is_written_with_csv_files_of_equal_rows) {
  TemporaryFolder folder;
  const BenchReport report = make_report(records(), folder.path() / "page.html");
  const auto files = write_report(report);
  ASSERT_THAT(files, SizeIs(1 + report.tables.size()));
  EXPECT_EQ(files[1].filename(), "page_throughput.csv");
  for (std::size_t i = 0; i < report.tables.size(); ++i) {
    const ReportTable& table = report.tables[i];
    EXPECT_THAT(table.rows, Each(SizeIs(table.head.size()))) << table.name;
    if (table.rows.empty()) continue;
    const auto read = io::read_csv(files[i + 1]).or_throw<std::runtime_error>();
    EXPECT_EQ(read.rows.size(), table.rows.size()) << table.name;
    EXPECT_THAT(read.rows, Each(SizeIs(table.head.size()))) << table.name;
  }
}

}  // namespace
}  // namespace roentgen::bench
