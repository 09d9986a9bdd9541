// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/case_list.h"
#include "bench/disturbance.h"
#include "bench/harness.h"
#include "bench/ledger/figures.h"
#include "bench/ledger/published.h"
#include "bench/ledger/record_testing.h"
#include "bench/short_run.h"
#include "bench/stop_error.h"
#include "bench/sweep_recipe.h"
#include "core/error.h"
#include "core/folder_testing.h"
#include "io/file.h"
#include "train/recipe.h"

namespace roentgen::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr SweepNeeds kNeeds{.flops = 1e9, .planned_bytes = 1 << 20};

/// Row of a short test with this time of a step; the first steps take longer by `burst`.
Value measured(const SweepSetting& setting, double step_s, double burst = 1.0, double wobble = 0.0) {
  std::vector<double> times(100, step_s);
  for (std::size_t i = 0; i < 20; ++i) times[i] *= burst;
  for (std::size_t i = 0; i < times.size(); i += 2) times[i] *= 1.0 + wobble;
  return short_row(Value::Table{{"ranks", setting.ranks},
                                {"hosts", 1},
                                {"batch", setting.batch},
                                {"threads", 1},
                                {"dtype", setting.dtype},
                                {"data_wait", 0.0},
                                {"comm_exposed", 0.0},
                                {"oversubscribed", false},
                                {"kind", "measured"},
                                {"disturbance", to_value(Disturbance{.other_cores = 0.0})},
                                {"calibration", Value()},
                                {"samples", Value::Table{{"step_s", samples_of(times)}}}});
}

std::vector<std::int64_t> batches_of(const Value::Array& rows) {
  std::vector<std::int64_t> batches;
  for (const Value& row : rows) batches.push_back(row.at("batch").as_integer());
  return batches;
}

TEST(Sweep, combines_all_lists) {
  const SweepLists lists{
      .batches = {8, 16}, .fuses = {"on", "off"}, .dtypes = {"f32"}, .ranks = {1, 2}, .gdrs = {"auto", "off"}};
  EXPECT_EQ(sweep_settings(lists, false).size(), 8U);
  const std::vector<SweepSetting> settings = sweep_settings(lists, true);
  EXPECT_EQ(settings.size(), 12U) << "GDR matters only for several ranks";
  EXPECT_EQ(setting_text(settings[0]), "batch 8, fuse on, dtype f32, ranks 1");
  EXPECT_EQ(setting_text(settings[2]), "batch 8, fuse on, dtype f32, ranks 2, gdr off");
  EXPECT_TRUE(to_value(settings[0]).at("gdr").is_null());
}

TEST(Sweep, cost_counts_all_ranks_unless_each_has_a_device) {
  const SweepSetting setting{.ranks = 4};
  EXPECT_DOUBLE_EQ(sweep_cost(setting, kNeeds, {.steps = 110}), 110 * 4 * 1e9);
  EXPECT_DOUBLE_EQ(sweep_cost(setting, kNeeds, {.steps = 110, .has_own_devices = true}), 110 * 1e9);
}

/// Runs settings that differ in the batch. Flops grow with the batch; `step_s` has the time of a step by batch.
struct Fake {
  std::map<std::int64_t, double> step_s{};
  std::map<std::int64_t, std::string> failing{};
  double wobble = 0.0;
  std::map<std::int64_t, double> bursts{};
  std::vector<std::int64_t> order{};

  Value::Array run(const std::vector<std::int64_t>& batches, Value::Array known = {}) {
    const SweepLists lists{.batches = batches, .fuses = {"on"}, .dtypes = {"f32"}, .ranks = {1}, .gdrs = {"auto"}};
    return run_sweep(sweep_settings(lists, false),
                     {.plan =
                          [&](const SweepSetting& setting) {
                            if (setting.batch == 0) throw ConfigError("[bench.sweep] no such batch");
                            return SweepNeeds{.flops = static_cast<double>(setting.batch) * 1e9, .planned_bytes = 1};
                          },
                      .run =
                          [&](const SweepSetting& setting) {
                            order.push_back(setting.batch);
                            if (failing.contains(setting.batch)) throw DeviceError(failing[setting.batch]);
                            const double burst = bursts.contains(setting.batch) ? bursts[setting.batch] : 1.0;
                            return measured(setting, step_s[setting.batch], burst, wobble);
                          },
                      .known = std::move(known),
                      .keep = [&](const Value::Array& rows) { kept = rows.size(); }});
  }
  std::size_t kept = 0;
};

TEST(Sweep, runs_the_cheapest_first_and_sorts_by_speed) {
  Fake fake{.step_s = {{4, 0.1}, {8, 0.1}, {16, 0.4}}};
  const Value::Array rows = fake.run({16, 4, 8});
  EXPECT_THAT(fake.order, ElementsAre(4, 8, 16));
  EXPECT_THAT(batches_of(rows), ElementsAre(8, 4, 16));  // 80, 40 and 40 images/s
  EXPECT_NEAR(rows[0].at("images_per_s").as_double(), 80.0, 1e-9);
  EXPECT_EQ(rows[0].at("steady"), Value(true));
  EXPECT_EQ(fake.kept, 3U);
  const SweepChoice choice = choose_row(rows);
  EXPECT_EQ(choice.verdict, SweepVerdict::Winner);
  EXPECT_EQ(choice.text, "winner: batch 8, fuse on, dtype f32, ranks 1");
}

TEST(Sweep, failure_is_a_row_with_its_reason) {
  Fake fake{.step_s = {{4, 0.1}, {8, 0.1}}, .failing = {{8, "[engine.cuda] memory: expected less, got 200 GiB"}}};
  const Value::Array rows = fake.run({0, 8, 4});
  EXPECT_THAT(batches_of(rows), ElementsAre(4, 0, 8));
  EXPECT_EQ(rows[1].at("failed").as_string(), "[bench.sweep] no such batch");
  EXPECT_TRUE(rows[1].at("planned_bytes").is_null());
  EXPECT_THAT(rows[2].at("failed").as_string(), HasSubstr("200 GiB"));
  EXPECT_EQ(rows[2].at("planned_bytes").as_integer(), 1);
  EXPECT_EQ(choose_row(rows).setting.batch, 4);
}

TEST(Sweep, stops_when_the_user_stops_a_test) {
  const std::vector<SweepSetting> settings{{.batch = 4}, {.batch = 8}};
  int runs = 0;
  const SweepRun run{.plan = [](const SweepSetting&) { return kNeeds; },
                     .run = [&](const SweepSetting&) -> Value {
                       ++runs;
                       throw StopError("[cli.launch] 2 ranks: expected a normal end, got signal 2");
                     }};
  EXPECT_THROW(static_cast<void>(run_sweep(settings, run)), StopError);
  EXPECT_EQ(runs, 1);
}

TEST(Sweep, of_failures_only_chooses_nothing) {
  Fake fake{.failing = {{4, "no memory"}}};
  const SweepChoice choice = choose_row(fake.run({4}));
  EXPECT_EQ(choice.verdict, SweepVerdict::None);
  EXPECT_EQ(choice.text, "no setting could be measured");
  EXPECT_EQ(choose_row({}).verdict, SweepVerdict::None);
}

TEST(Sweep, difference_inside_the_jitter_has_no_winner) {
  Fake fake{.step_s = {{4, 0.1}, {8, 0.1995}}, .wobble = 0.015};
  const SweepChoice choice = choose_row(fake.run({4, 8}));
  EXPECT_EQ(choice.verdict, SweepVerdict::InsideJitter);
  EXPECT_THAT(choice.text, StartsWith("no winner: batch 8, fuse on, dtype f32, ranks 1 was the fastest, but the "
                                      "difference to batch 4, "));
  fake.wobble = 0.0;
  EXPECT_EQ(choose_row(fake.run({4, 8})).verdict, SweepVerdict::Winner);
}

TEST(Sweep, unsteady_row_does_not_win) {
  Fake fake{.step_s = {{4, 0.1}, {8, 0.1}}, .bursts = {{8, 1.2}}};
  SweepChoice choice = choose_row(fake.run({4, 8}));
  EXPECT_EQ(choice.verdict, SweepVerdict::Winner);
  EXPECT_EQ(choice.setting.batch, 4);
  EXPECT_THAT(choice.text, HasSubstr("faster settings were not steady"));
  fake.bursts[4] = 1.2;
  choice = choose_row(fake.run({4, 8}));
  EXPECT_EQ(choice.verdict, SweepVerdict::Unsteady);
  EXPECT_EQ(choice.setting.batch, 8);
}

TEST(Sweep, known_rows_are_not_measured_again) {
  Fake fake{.step_s = {{4, 0.1}, {8, 0.1}, {16, 0.1}}, .failing = {{8, "no memory"}}};
  const Value::Array first = fake.run({4, 8});
  fake.order.clear();
  fake.failing.clear();
  const Value::Array rows = fake.run({4, 8, 16}, first);
  EXPECT_THAT(fake.order, ElementsAre(8, 16)) << "failed tests are repeated";
  EXPECT_EQ(rows.back(), first.front());
}

TEST(Sweep, recipe_has_the_setting_and_can_be_read) {
  const NetworkOptions network{.model = "densenet121", .image_px = 64, .channels = 1};
  const SweepSetting setting{.batch = 24, .fuse = "off", .dtype = "bf16", .ranks = 2, .gdr = "off"};
  const std::string text = sweep_recipe(network, setting, {.threads = 3}, "winner: this\none");
  EXPECT_THAT(text, StartsWith("# winner: this\\none\n"));
  const train::Recipe recipe = train::parse_recipe(text, "test", {});
  EXPECT_EQ(recipe.model.name, "densenet121");
  EXPECT_EQ(recipe.preprocess.size_px, 64);
  EXPECT_EQ(recipe.preprocess.channels, 1);
  EXPECT_EQ(recipe.train.batch, 24);
  EXPECT_EQ(recipe.train.fuse, "off");
  EXPECT_EQ(recipe.train.dtype, "bf16");
  EXPECT_EQ(recipe.train.threads, 3);
  EXPECT_EQ(train_command("a b.toml", setting, {}),
            "roentgen train --recipe 'a b.toml' --data DIR --out run --ranks 2 --gdr off");
  EXPECT_EQ(long_command("a.toml", setting, {}),
            "roentgen bench long --recipe a.toml --data DIR --target auroc=0.8 --out long --ranks 2 --gdr off");
  EXPECT_EQ(long_command("a.toml", {.ranks = 1, .gdr = "auto"}, {}),
            "roentgen bench long --recipe a.toml --data DIR --target auroc=0.8 --out long");
  NetworkOptions odd = network;
  odd.algorithms = "winograd";
  EXPECT_THROW(static_cast<void>(sweep_recipe(odd, setting, {}, "")), ConfigError);
  for (const std::int64_t channels : {1, 3}) {
    EXPECT_NO_THROW(static_cast<void>(sweep_recipe({.channels = channels}, setting, {}, "")));
  }
}

TEST(Sweep, commands_and_recipe_keep_the_options_of_several_ranks) {
  const SweepOptions options{
      .hosts = "a:1,b:1", .reduce = "ring", .wire = "bf16", .bucket_mb = 8.5, .may_oversubscribe = true};
  const SweepSetting two{.ranks = 2};
  EXPECT_EQ(train::parse_recipe(sweep_recipe({}, two, options, ""), "test", {}).train.bucket_mb, 8.5);
  EXPECT_EQ(train_command("a.toml", two, options),
            "roentgen train --recipe a.toml --data DIR --out run --ranks 2 --oversubscribe --hosts a:1,b:1 "
            "--reduce ring --wire bf16");
  EXPECT_THAT(long_command("a.toml", two, options),
              testing::EndsWith(" --out long --ranks 2 --oversubscribe --hosts a:1,b:1 --reduce ring --wire bf16"));
  EXPECT_EQ(train_command("a.toml", {}, {.reduce = "ring", .wire = "bf16"}),
            "roentgen train --recipe a.toml --data DIR --out run")
      << "one rank exchanges nothing";
}

/// Runs the case with the options in `texts`; whole numbers for the others.
class SweepCases : public testing::Test {
 protected:
  Value run(const std::vector<std::pair<std::string, std::string>>& texts, std::int64_t steps = 3) {
    const std::unique_ptr<Case> asked = make_sweep_case();
    for (const Option& option : asked->options()) {
      for (const auto& [name, number] : {std::pair<std::string, std::int64_t>{"--image", 32},
                                         {"--warmup", 1},
                                         {"--steps", steps},
                                         {"--threads", 1}}) {
        if (option.name == name) *std::get<std::int64_t*>(option.target) = number;
      }
      for (const auto& [name, value] : texts) {
        if (option.name != name) continue;
        if (auto* const* text = std::get_if<std::string*>(&option.target)) **text = value;
        if (auto* const* number = std::get_if<double*>(&option.target)) **number = std::stod(value);
        if (auto* const* path = std::get_if<std::filesystem::path*>(&option.target)) **path = value;
      }
    }
    const Value result = asked->run({.graph_of_file = [](const NetworkOptions&) { return std::nullopt; }});
    has_failed_ = asked->has_failed(result);
    return result;
  }
  std::string refusal(const std::vector<std::pair<std::string, std::string>>& texts) {
    try {
      static_cast<void>(run(texts));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "not refused";
  }
  std::string file(const std::string& name) { return (folder_.path() / name).string(); }

  TemporaryFolder folder_;
  bool has_failed_ = false;
};

TEST_F(SweepCases, measure_settings_and_write_a_recipe) {
  const std::vector<std::pair<std::string, std::string>> texts{{"--model", "resnet18"},
                                                               {"--device", "emulated:50"},
                                                               {"--batch", "2,1"},
                                                               {"--fuse", "on"},
                                                               {"--dtype", "f32"},
                                                               {"--out", file("best.toml")},
                                                               {"--resume", file("state.json")}};
  const Value result = run(texts);
  EXPECT_FALSE(has_failed_);
  const Value::Array& rows = result.at("rows").as_array();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_GE(rows[0].at("images_per_s").as_double(), rows[1].at("images_per_s").as_double());
  EXPECT_GT(rows[0].at("planned_bytes").as_integer(), 0);
  EXPECT_EQ(train::read_recipe(file("best.toml"), {}).train.batch, result.at("chosen").at("batch").as_integer());
  EXPECT_THAT(result.at("next_command").as_string(), HasSubstr("best.toml"));
  EXPECT_EQ(run(texts).at("rows"), result.at("rows")) << "all rows are known";
  const std::string other = refusal(
      {{"--model", "resnet34"}, {"--device", "emulated:50"}, {"--batch", "1"}, {"--resume", file("state.json")}});
  EXPECT_THAT(other, HasSubstr("got another model"));
  const auto with = [&texts](const std::string& option, const std::string& value) {
    auto more = texts;
    more.emplace_back(option, value);
    return more;
  };
  EXPECT_THAT(refusal(with("--reduce", "ring")), HasSubstr("got another reduce"));
  EXPECT_THAT(refusal(with("--wire", "bf16")), HasSubstr("got another wire"));
  EXPECT_THAT(refusal(with("--hosts", "a:1")), HasSubstr("got another hosts"));
  EXPECT_THAT(refusal(with("--bucket-mb", "8")), HasSubstr("got another bucket_mb"));
}

TEST_F(SweepCases, are_seen_by_reports_of_the_ledger) {
  const Value result = run({{"--model", "resnet18"}, {"--batch", "1"}, {"--fuse", "on,off"}, {"--dtype", "f32,f8"}});
  const Value::Array& rows = result.at("rows").as_array();
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_THAT(rows[3].at("failed").as_string(), HasSubstr("f8"));
  EXPECT_EQ(training_speeds({made_record(0, "a", "sweep", result)}).size(), 2U);
  std::vector<std::string> names;
  for (const Figure& figure : main_figures(result)) names.push_back(figure.name);
  EXPECT_THAT(names, testing::Contains("rows(batch=1, dtype=f32, fuse=on, oversubscribed=false, ranks=1, threads=1) "
                                       "images_per_s"));
  for (const auto& [key, value] : record_settings(result)) EXPECT_NE(key, "verdict") << "it is measured";
}

TEST_F(SweepCases, refuse_bad_lists_before_the_first_test) {
  EXPECT_THAT(refusal({{"--batch", "2,many"}}), HasSubstr("--batch"));
  EXPECT_THAT(refusal({{"--fuse", "on,"}}), HasSubstr("--fuse: expected values separated by commas"));
  EXPECT_THAT(refusal({{"--gdr", "auto,maybe"}}), HasSubstr("--gdr"));
  EXPECT_THAT(refusal({{"--ranks", "1,0"}}), HasSubstr("--ranks"));
  for (const auto& [option, values] :
       {std::pair{"--batch", "8,8"}, {"--fuse", "on,on"}, {"--dtype", "f32,f32"}, {"--ranks", "2,2"}}) {
    EXPECT_THAT(refusal({{option, values}}),
                HasSubstr(std::string(option) + ": expected different values, got " + values));
  }
  EXPECT_THAT(refusal({{"--algorithms", "winograd"}, {"--out", file("a.toml")}}), HasSubstr("algorithms"));
  EXPECT_FALSE(std::filesystem::exists(file("a.toml")));
}

TEST_F(SweepCases, say_that_gdr_needs_nccl) {
  const Value result =
      run({{"--model", "resnet18"}, {"--batch", "1"}, {"--fuse", "on"}, {"--dtype", "f32"}, {"--gdr", "auto,off"}});
  EXPECT_EQ(result.at("rows").as_array().size(), 1U);
  EXPECT_THAT(result.at("warnings").as_array()[0].as_string(), HasSubstr("--gdr not varied"));
}

}  // namespace
}  // namespace roentgen::bench
