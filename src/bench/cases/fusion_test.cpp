// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/fusion.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "core/error.h"

namespace roentgen::bench {
namespace {

// Uses only the algorithm `direct`, because the scratch memory of our own kernels depends on the instruction set.
FusionOptions tiny() {
  return {.models = {"resnet18"},
          .network = {.batch = 2,
                      .image_px = 32,
                      .channels = 1,
                      .labels = 3,
                      .warmup = 0,
                      .steps = 1,
                      .threads = 1,
                      .algorithms = "direct"},
          .rounds = 2};
}

std::map<std::string, Value> by_fuse(const Value& rows) {
  std::map<std::string, Value> found;
  for (const Value& row : rows.as_array()) found[row.at("fuse").as_string()] = row;
  return found;
}

TEST(FusionBench, has_a_row_for_none_for_each_pass_that_does_something_for_all_and_without_each_fusion) {
  const Value result = run_fusion(tiny());
  const std::map<std::string, Value> training = by_fuse(result.at("training"));
  EXPECT_EQ(training.size(), 5U);
  EXPECT_TRUE(training.contains("on,-normalised_input")) << "the pooling behind the stem normalises what it reads";
  EXPECT_FALSE(training.contains("virtual_concat")) << "ResNet has no concat";
  EXPECT_FALSE(training.contains("fold_batch_norm")) << "training folds nothing";
  const std::map<std::string, Value> inference = by_fuse(result.at("inference"));
  EXPECT_TRUE(inference.contains("fold_batch_norm"));
  for (const auto& rows : {training, inference}) {
    EXPECT_DOUBLE_EQ(rows.at("off").at("gain").as_double(), 1.0);
    EXPECT_DOUBLE_EQ(rows.at("off").at("of_off").as_double(), 1.0);
    EXPECT_LT(rows.at("on").at("entries").as_integer(), rows.at("off").at("entries").as_integer());
    EXPECT_LE(rows.at("on").at("activation_bytes").as_integer(), rows.at("off").at("activation_bytes").as_integer());
    EXPECT_GT(rows.at("on").at("step_ms").as_double(), 0.0);
  }
}

TEST(FusionBench, a_concat_that_is_not_stored_saves_memory) {
  FusionOptions options = tiny();
  options.models = {"densenet121"};
  options.rounds = 1;
  EXPECT_LT(by_fuse(run_fusion(options).at("training")).at("virtual_concat").at("of_off").as_double(), 1.0);
}

TEST(FusionBench, refuses_options_out_of_range_and_unknown_models) {
  FusionOptions options = tiny();
  options.rounds = 0;
  EXPECT_THROW(static_cast<void>(run_fusion(options)), ConfigError);
  options = tiny();
  options.network.steps = 0;
  EXPECT_THROW(static_cast<void>(run_fusion(options)), ConfigError);
  options = tiny();
  options.models.clear();
  EXPECT_THROW(static_cast<void>(run_fusion(options)), ConfigError);
  options = tiny();
  options.models = {"resnet17"};
  EXPECT_THROW(static_cast<void>(run_fusion(options)), ConfigError);
}

}  // namespace
}  // namespace roentgen::bench
