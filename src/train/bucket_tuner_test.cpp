// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/bucket_tuner.h"

#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "train/observer.h"
#include "train/ranks.h"
#include "train/ranks_testing.h"

namespace roentgen::train {
namespace {

// Buckets of so many MiB each, as an executable cuts them.
std::vector<engine::Bucket> buckets_of(const std::vector<std::int64_t>& sizes_mb) {
  constexpr std::int64_t kElements = std::int64_t{1} << 18U;  // of 1 MiB
  std::vector<engine::Bucket> buckets;
  std::int64_t begin = 0;
  for (const std::int64_t size : sizes_mb) {
    buckets.push_back({begin * kElements, size * kElements});
    begin += size;
  }
  return buckets;
}

TEST(BucketSizes, are_those_that_differ) {
  EXPECT_EQ(bucket_sizes_to_try(buckets_of(std::vector<std::int64_t>(64, 1))),
            (std::vector<double>{1, 2, 4, 8, 16, 32}));
  EXPECT_EQ(bucket_sizes_to_try(buckets_of(std::vector<std::int64_t>(5, 1))), (std::vector<double>{1, 2, 4, 8}));
  EXPECT_EQ(bucket_sizes_to_try(buckets_of({1})), (std::vector<double>{4})) << "the usual one";
  EXPECT_EQ(bucket_sizes_to_try(buckets_of({40, 40, 40})), (std::vector<double>{4})) << "large layers stay whole";
}

TEST(BucketSizes, best_is_the_fastest_unless_the_usual_one_is_nearly_as_fast) {
  const std::vector<double> sizes{1, 4, 16};
  EXPECT_EQ(best_bucket_size(sizes, std::vector<float>{0.9F, 1.0F, 0.8F}), 16.0);
  EXPECT_EQ(best_bucket_size(sizes, std::vector<float>{0.9F, 1.0F, 1.1F}), 1.0);
  EXPECT_EQ(best_bucket_size(sizes, std::vector<float>{0.985F, 1.0F, 0.99F}), 4.0);
  EXPECT_EQ(best_bucket_size(sizes, std::vector<float>{2.0F, 1.0F, 2.0F}), 4.0);
}

// On each rank another size is the fastest. One update in eight takes much longer, to imitate noise.
TEST(BucketTrials, all_ranks_choose_the_size_that_is_fastest_on_average) {
  const std::vector<std::map<double, double>> seconds_of{{{1, 0.5}, {4, 1.0}, {16, 0.9}},
                                                         {{1, 1.5}, {4, 1.0}, {16, 0.7}}};
  std::mutex mutex;
  std::vector<double> chosen;
  std::map<double, int> tried;
  expect_none(as_ranks(2, [&](dist::CommThread& group) {
    const Ranks ranks(&group);
    BucketTrials trials(ranks, {1, 4, 16});
    constexpr double kInput = 3.0;
    int updates = 0;
    for (std::optional<double> size; !size; ++updates) {
      const double used = trials.size_mb();
      EXPECT_EQ(trials.unfinished_text(), updates == 0
                                              ? std::string()
                                              : "bucket_mb = auto: not tuned; the run ended after " +
                                                    std::to_string(updates) + " of the 18 updates that try sizes");
      const double own = seconds_of[static_cast<std::size_t>(ranks.rank())].at(used);
      size = trials.add({.seconds = (updates % 8 == 0 ? 9.0 : own) + kInput, .data_wait_seconds = kInput});
      const std::scoped_lock lock(mutex);
      if (ranks.is_first()) ++tried[used];
      if (!size) continue;
      chosen.push_back(*size);
      EXPECT_NEAR(trials.chosen_s(), 0.8F, 1e-5F);
      EXPECT_NEAR(trials.usual_s(), 1.0F, 1e-5F);
    }
  }));
  EXPECT_EQ(chosen, (std::vector<double>{16, 16}));
  EXPECT_EQ(tried, (std::map<double, int>{{1, 5}, {4, 5 + 3}, {16, 5}})) << "three updates of warm-up";
}

}  // namespace
}  // namespace roentgen::train
