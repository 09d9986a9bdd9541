// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/storage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "core/error.h"

namespace roentgen::data {
namespace {

using testing::HasSubstr;

std::string refusal(std::string_view text) {
  try {
    static_cast<void>(parse_storage_costs(text));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no refusal";
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST(StorageCosts, reads_what_it_prints) {
  const StorageCosts costs = parse_storage_costs("open=2ms,read=500us,opens_per_s=1000");
  EXPECT_EQ(costs, (StorageCosts{.open_s = 0.002, .read_s = 0.0005, .opens_per_s = 1000}));
  EXPECT_EQ(parse_storage_costs(costs.text()), costs);
  EXPECT_EQ(parse_storage_costs("read=0.1s"), (StorageCosts{.read_s = 0.1}));
}

TEST(StorageCosts, refuses_what_it_does_not_know) {
  EXPECT_THAT(
      refusal(""),
      HasSubstr("[data.storage] emulated storage: expected at least one of open=, read= and opens_per_s=, got none"));
  EXPECT_THAT(refusal("seek=1ms"), HasSubstr("expected open=, read= or opens_per_s=, got seek=1ms"));
  EXPECT_THAT(refusal("open=2"), HasSubstr("expected a time in s, ms or us, got 2"));
  EXPECT_THAT(refusal("open=-2ms"), HasSubstr("a number of at least 0, got -2ms"));
  EXPECT_THAT(refusal("open=nanms"), HasSubstr("a number of at least 0"));
  EXPECT_THAT(refusal("open=1e9s"), HasSubstr("at most 10s"));
  EXPECT_THAT(refusal("opens_per_s=0"), HasSubstr("at least 0.1"));
  EXPECT_THAT(refusal("opens_per_s=5/s"), HasSubstr("at least 0.1"));
  EXPECT_THAT(refusal("open"), HasSubstr("a number of at least 0"));
}

// Checks lower bounds only, because a busy machine may take longer.
TEST(EmulatedStorage, takes_at_least_as_long_as_it_says) {
  EmulatedStorage storage({.open_s = 0.002, .read_s = 0.001});
  const auto begin = std::chrono::steady_clock::now();
  storage.open();
  storage.read(1);
  storage.read(3 << 20);
  EXPECT_GE(seconds_since(begin), 0.002 + 0.001 + 0.003);
}

TEST(EmulatedStorage, lets_all_threads_together_open_so_many_files_a_second) {
  EmulatedStorage storage({.opens_per_s = 1000});
  const auto begin = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&storage] {
        for (int file = 0; file < 6; ++file) storage.open();
      });
    }
  }
  EXPECT_GE(seconds_since(begin), 0.023);  // the first file opens immediately
}

}  // namespace
}  // namespace roentgen::data
