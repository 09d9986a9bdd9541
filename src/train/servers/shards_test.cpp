// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/servers/shards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace roentgen::train {
namespace {

using testing::ElementsAre;

std::vector<engine::ArenaRange> buckets(const std::vector<std::int64_t>& counts) {
  std::vector<engine::ArenaRange> all;
  std::int64_t begin = 0;
  for (const std::int64_t count : counts) {
    all.push_back({.begin = begin, .count = count});
    begin += count;
  }
  return all;
}

TEST(Shards, give_the_largest_bucket_to_the_server_with_the_fewest_elements) {
  EXPECT_THAT(assign_buckets(buckets({10, 40, 30, 20}), 2), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(assign_buckets(buckets({5, 5, 5}), 2), ElementsAre(0, 1, 0)) << "the first ones where all are equal";
  EXPECT_THAT(assign_buckets(buckets({5, 5, 5}), 1), ElementsAre(0, 0, 0));
  EXPECT_THAT(assign_buckets(buckets({1, 100, 1, 1}), 2), ElementsAre(1, 0, 1, 1)) << "one layer bounds the speed";
}

TEST(Shards, are_ascending_and_together_all_buckets) {
  const std::vector<int> assigned = assign_buckets(buckets({10, 40, 30, 20}), 2);
  EXPECT_THAT(buckets_of(assigned, 0), ElementsAre(0, 1));
  EXPECT_THAT(buckets_of(assigned, 1), ElementsAre(2, 3));
}

TEST(Shards, are_refused_for_more_servers_than_buckets) {
  try {
    static_cast<void>(assign_buckets(buckets({10, 40}), 3));
    FAIL() << "three servers of two buckets";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(),
                testing::HasSubstr("--servers: expected at most 2, the number of gradient buckets, got 3"));
  }
}

}  // namespace
}  // namespace roentgen::train
