// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/experiment.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "bench/images_testing.h"
#include "core/error.h"
#include "graph/text.h"

namespace roentgen::bench {
namespace {

class ExperimentCase : public ImagesTest {
 protected:
  ExperimentCase() {
    std::filesystem::create_directory(work());
    options_ = {.input = small(), .models = {}, .rates = {20'000.0}, .work = work(), .cell_s = 0.01, .rounds = 2};
    options_.input.batch = 2;
    options_.input.storage = data::StorageCosts{.open_s = 1e-4};
  }
  [[nodiscard]] std::filesystem::path work() const { return folder_.path() / "work"; }
  ExperimentOptions options_;
};

TEST_F(ExperimentCase, measures_every_combination_once_and_leaves_nothing_behind) {
  options_.rates = {10'000.0, 20'000.0};
  const Value result = run_experiment(dataset_, options_);
  const auto& cells = result.at("cells").as_array();
  EXPECT_EQ(cells.size(), 2U * 3U * 2U * 3U) << "devices, storages, formats, orders";
  std::set<std::string> names;
  for (const Value& cell : cells) {
    std::string name;
    for (const char* key : {"device", "storage", "format", "order"}) name += cell.at(key).as_string() + " ";
    names.insert(name);
    EXPECT_TRUE(cell.at("emulated").as_bool());
    EXPECT_GT(cell.at("images_per_s").as_double(), 0.0);
    EXPECT_GE(cell.at("steps").as_integer(), 1);
    if (cell.at("order").as_string() == "naive") {
      EXPECT_DOUBLE_EQ(cell.at("of_naive").as_double(), 1.0) << name;
    }
  }
  EXPECT_EQ(names.size(), cells.size());
  const auto& devices = result.at("devices").as_array();
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_LE(devices[0].at("images_per_s").as_double(), 10'000.0);
  EXPECT_TRUE(std::filesystem::is_empty(work()));
}

TEST_F(ExperimentCase, leaves_slow_storage_out_unless_it_is_told_how_slow) {
  options_.input.storage.reset();
  EXPECT_EQ(run_experiment(dataset_, options_).at("cells").as_array().size(), 2U * 2U * 3U);
}

TEST_F(ExperimentCase, trains_networks_which_are_not_emulated) {
  options_.rates.clear();
  const graph::Graph net =
      graph::parse_graph(kNet, "tiny", {.batch = 2, .channels = 1, .image_px = 16, .labels = 3}).or_throw<Error>();
  options_.models = {"tiny"};
  options_.step = {.graph = &net, .labels = 3, .threads = 1};
  options_.input.storage.reset();
  options_.rounds = 1;
  const Value result = run_experiment(dataset_, options_);
  EXPECT_EQ(result.at("devices").as_array()[0].at("device").as_string(), "tiny");
  for (const Value& cell : result.at("cells").as_array()) EXPECT_FALSE(cell.at("emulated").as_bool());
}

TEST_F(ExperimentCase, refuses_options_out_of_range) {
  options_.rates.clear();
  EXPECT_THROW(static_cast<void>(run_experiment(dataset_, options_)), ConfigError);
  options_.rates = {1000.0};
  options_.rounds = 0;
  EXPECT_THROW(static_cast<void>(run_experiment(dataset_, options_)), ConfigError);
}

TEST(Rates, are_read_or_refused) {
  EXPECT_EQ(parse_rates("200,1000.5"), (std::vector<double>{200.0, 1000.5}));
  EXPECT_TRUE(parse_rates("").empty());
  for (const char* text : {",", "200,", "fast", "-1", "0"}) {
    EXPECT_THROW(static_cast<void>(parse_rates(text)), ConfigError) << text;
  }
}

}  // namespace
}  // namespace roentgen::bench
