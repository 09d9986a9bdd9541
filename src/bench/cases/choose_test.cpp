// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/choose.h"

#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "core/folder_testing.h"
#include "io/file.h"
#include "train/choice_file.h"

namespace roentgen::bench {
namespace {

ChooseOptions small() {
  ChooseOptions options{.networks = {{.model = "resnet18", .batch = 1}, {.model = "resnet18", .batch = 2}}};
  options.step.image_px = 32;
  options.step.threads = 1;
  return options;
}

TEST(ChooseBench, has_a_row_for_every_network_and_batch) {
  const Value result = run_choose(small());
  EXPECT_EQ(result.at("case").as_string(), "choose");
  const Value::Array& networks = result.at("networks").as_array();
  ASSERT_EQ(networks.size(), 2U);
  for (std::size_t i = 0; i < networks.size(); ++i) {
    EXPECT_EQ(networks[i].at("model").as_string(), "resnet18");
    EXPECT_EQ(networks[i].at("batch").as_integer(), static_cast<std::int64_t>(i) + 1);
    // ResNet-18 has 20 convolutions with 3 passes each; the first convolution has no data gradient.
    EXPECT_EQ(networks[i].at("choices").as_integer(), 3 * 20 - 1);
    const double best_ms = networks[i].at("best_ms").as_double();
    EXPECT_GT(best_ms, 0.0);
    EXPECT_GE(networks[i].at("chosen_ms").as_double(), best_ms);
    EXPECT_GE(networks[i].at("first_ms").as_double(), best_ms);
    EXPECT_GE(networks[i].at("loss").as_double(), 0.0);
    EXPECT_GE(networks[i].at("inference_loss").as_double(), 0.0);
  }
  double share = 0.0;
  for (const Value& row : result.at("lossy").as_array()) {
    EXPECT_GT(row.at("loss").as_double(), 0.05);
    EXPECT_NE(row.at("chosen").as_string(), row.at("best").as_string());
    share += row.at("share").as_double();
  }
  EXPECT_LE(share, 1.0 + 1e-9);
}

TEST(ChooseBench, writes_the_fastest_of_every_layer) {
  const TemporaryFolder folder;
  ChooseOptions options = small();
  options.networks.resize(1);
  options.file = folder.path() / "choices.json";
  const Value result = run_choose(options);
  const train::ChoiceFile read =
      train::parse_choice_file(io::read_text(options.file).or_throw<ConfigError>(), options.file);
  const Value::Array& layers = result.at("layers").as_array();
  ASSERT_EQ(read.algorithms.size(), layers.size());
  for (const Value& layer : layers) {
    const std::string& written = read.algorithms.at(layer.at("layer").as_string());
    for (const auto& [key, value] : layer.as_table()) {
      if (!key.ends_with("_ms")) continue;
      EXPECT_LE(layer.at(written + "_ms").as_double(), value.as_double());
    }
  }
}

TEST(ChooseBench, refuses_what_it_cannot_measure) {
  ChooseOptions options = small();
  options.networks[1].model = "resnet17";
  EXPECT_THROW(static_cast<void>(run_choose(options)), ConfigError);
  options = small();
  options.step.threads = -1;
  EXPECT_THROW(static_cast<void>(run_choose(options)), ConfigError);
}

}  // namespace
}  // namespace roentgen::bench
