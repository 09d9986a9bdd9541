// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "bench/ledger/figures.h"
#include "core/error.h"
#include "core/folder_testing.h"
#include "core/value.h"
#include "io/file.h"

namespace roentgen::bench {
namespace {

class TargetOfARun : public testing::Test {
 protected:
  TargetTime time(std::string_view lines, const Target& target = {.value = 0.8}) {
    io::write_file_atomically(folder_.path() / "log.jsonl", lines);
    return time_to_target(target, folder_.path() / "log.jsonl");
  }
  TemporaryFolder folder_;
};

constexpr std::string_view kTwoEpochs =
    "{\"kind\":\"step\",\"step\":1,\"epoch\":0,\"seconds\":2.0,\"images_per_s\":8.0}\n"
    "{\"kind\":\"step\",\"step\":2,\"epoch\":0,\"seconds\":4.0,\"images_per_s\":4.0}\n"
    "{\"kind\":\"epoch\",\"epoch\":0,\"val_auroc\":0.75,\"val_top1\":0.9,\"val_seconds\":1.0}\n"
    "{\"kind\":\"links\",\"step\":2}\n"
    "{\"kind\":\"step\",\"step\":3,\"epoch\":1,\"seconds\":2.0,\"images_per_s\":8.0}\n"
    "{\"kind\":\"epoch\",\"epoch\":1,\"val_auroc\":0.8,\"val_top1\":0.5,\"val_seconds\":1.5}\n"
    "{\"kind\":\"step\",\"step\":4,\"epoch\":2,\"seconds\":100.0,\"images_per_s\":8.0}\n";

TEST_F(TargetOfARun, is_reached_at_the_end_of_an_epoch) {
  const TargetTime found = time(kTwoEpochs);
  EXPECT_EQ(found.epochs, 2);
  EXPECT_DOUBLE_EQ(found.train_s, 8.0) << "the update after the target does not count";
  EXPECT_DOUBLE_EQ(found.val_s, 2.5);
  EXPECT_DOUBLE_EQ(found.images_per_s(), 6.0);
  EXPECT_EQ(found.best, 0.8);
}

TEST_F(TargetOfARun, may_be_the_top_1_accuracy) {
  const TargetTime found = time(kTwoEpochs, {.metric = "top1", .value = 0.9});
  EXPECT_EQ(found.epochs, 1);
  EXPECT_DOUBLE_EQ(found.seconds(), 7.0);
}

TEST_F(TargetOfARun, not_reached_counts_the_whole_run) {
  const TargetTime found = time(kTwoEpochs, {.value = 0.81});
  EXPECT_EQ(found.epochs, std::nullopt);
  EXPECT_EQ(found.epochs_done, 2);
  EXPECT_EQ(found.best, 0.8);
  EXPECT_DOUBLE_EQ(found.train_s, 108.0);
}

TEST_F(TargetOfARun, ignores_a_line_that_a_killed_run_left) {
  EXPECT_DOUBLE_EQ(time("{\"kind\":\"step\",\"seconds\":2.0,\"images_per_s\":8.0}\n{\"kind\":\"st").train_s, 2.0);
}

TEST_F(TargetOfARun, has_no_time_before_it_begins) {
  const TargetTime found = time_to_target({.value = 0.5}, folder_.path() / "none.jsonl");
  EXPECT_EQ(found.seconds(), 0.0);
  EXPECT_EQ(found.images_per_s(), 0.0);
}

TEST_F(TargetOfARun, needs_the_time_of_updates) {
  EXPECT_THROW(static_cast<void>(time("{\"kind\":\"step\",\"step\":1,\"images_per_s\":8.0}\n")), DataError);
}

TEST(Target, is_a_metric_and_a_value) {
  EXPECT_EQ(parse_target("auroc=0.84").value, 0.84);
  EXPECT_EQ(parse_target("top1=0.762").key(), "val_top1");
  for (const char* text : {"", "auroc", "auroc=", "auroc=0", "auroc=1.01", "auroc=0.8x", "f1=0.5", "auroc=nan"}) {
    EXPECT_THROW(static_cast<void>(parse_target(text)), ConfigError) << text;
  }
}

TEST(Target, time_to_it_is_a_figure_beside_the_speed) {
  const Value result = Value::Table{{"case", "long"}, {"time_to_target_s", 40.0}, {"images_per_s", 5.0}};
  std::vector<std::string> names;
  for (const Figure& figure : main_figures(result)) names.push_back(figure.name);
  EXPECT_THAT(names, testing::ElementsAre("time_to_target_s", "images_per_s"));
}

}  // namespace
}  // namespace roentgen::bench
