// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/worker_tuner.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace roentgen::data {
namespace {

/// Simulates a consumer that needs `step_s` per batch; a batch takes `work_s` thread-seconds of work. Runs until the
/// tuner settles, at most 1000 batches. Returns the number of workers.
int settle(WorkerTuner& tuner, double step_s, double work_s) {
  for (int batch = 0; batch < 1000; ++batch) {
    const double made_s = work_s / tuner.active();
    const double interval_s = std::max(step_s, made_s);
    if (tuner.observe({.interval_s = interval_s, .wait_s = interval_s - step_s, .work_s = work_s})) break;
  }
  return tuner.active();
}

TEST(WorkerTuner, keeps_all_workers_where_the_consumer_waits) {
  WorkerTuner tuner(8);
  EXPECT_EQ(settle(tuner, 0.01, 0.5), 8);
  EXPECT_TRUE(tuner.is_settled());
}

TEST(WorkerTuner, takes_what_the_work_needs_and_a_third) {
  WorkerTuner tuner(16);
  EXPECT_EQ(settle(tuner, 0.1, 0.3), 4);
}

TEST(WorkerTuner, takes_one_worker_for_little_work) {
  WorkerTuner tuner(16);
  EXPECT_EQ(settle(tuner, 1.0, 0.01), 1);
}

TEST(WorkerTuner, adds_workers_until_nothing_waits) {
  // A device that takes batches irregularly: 2 workers suffice on average, but only 5 avoid every wait.
  WorkerTuner tuner(8);
  for (int batch = 0; batch < 1000 && !tuner.is_settled(); ++batch) {
    tuner.observe({.interval_s = 1.0, .wait_s = tuner.active() < 5 ? 0.1 : 0.0, .work_s = 1.2});
  }
  EXPECT_EQ(tuner.active(), 5);
}

TEST(WorkerTuner, does_not_count_the_first_batch_for_which_the_pool_was_empty) {
  WorkerTuner tuner(8);
  tuner.observe({.interval_s = 10.0, .wait_s = 10.0, .work_s = 0.1});
  EXPECT_EQ(settle(tuner, 1.0, 0.5), 1);
}

TEST(WorkerTuner, settles_in_ten_windows_whatever_comes) {
  WorkerTuner tuner(64);
  int batches = 0;
  for (; !tuner.is_settled() && batches < 1000; ++batches) {
    const bool is_odd = batches / WorkerTuner::kWindow % 2 == 1;
    tuner.observe({.interval_s = 1.0, .wait_s = is_odd ? 0.5 : 0.0, .work_s = is_odd ? 30.0 : 0.1 * batches});
  }
  EXPECT_LE(batches, 1 + 10 * WorkerTuner::kWindow);
  EXPECT_GE(tuner.active(), 1);
  EXPECT_LE(tuner.active(), 64);
}

TEST(WorkerTuner, bears_a_clock_that_stands_still) {
  WorkerTuner tuner(4);
  for (int batch = 0; batch < 100; ++batch) tuner.observe({});
  EXPECT_EQ(tuner.active(), 4);
  EXPECT_TRUE(tuner.is_settled());
}

TEST(PrefetchTuner, gives_up_batches_that_always_lie_ready) {
  PrefetchTuner tuner(8);
  for (int batch = 0; batch < 1000 && !tuner.is_settled(); ++batch) {
    tuner.observe({.interval_s = 1.0}, tuner.ahead());
  }
  EXPECT_TRUE(tuner.is_settled());
  EXPECT_EQ(tuner.ahead(), 1);
}

TEST(PrefetchTuner, keeps_all_where_the_consumer_waits) {
  PrefetchTuner tuner(3);
  for (int batch = 0; batch < 1000 && !tuner.is_settled(); ++batch) {
    tuner.observe({.interval_s = 1.0, .wait_s = 0.5}, 0);
  }
  EXPECT_EQ(tuner.ahead(), 3);
}

TEST(PrefetchTuner, keeps_what_slow_batches_use_up) {
  // Every fourth batch takes as long to make as three take to consume, so all batches held ahead except one are needed.
  PrefetchTuner tuner(6);
  for (int batch = 0; batch < 1000 && !tuner.is_settled(); ++batch) {
    const bool is_slow = batch % 4 == 3;
    const std::int64_t ready = is_slow ? std::max<std::int64_t>(tuner.ahead() - 3, 0) : tuner.ahead();
    tuner.observe({.interval_s = 1.0, .wait_s = is_slow && tuner.ahead() < 3 ? 1.0 : 0.0}, ready);
  }
  EXPECT_TRUE(tuner.is_settled());
  EXPECT_EQ(tuner.ahead(), 4);
}

TEST(PrefetchTuner, settles_where_waits_come_and_go) {
  PrefetchTuner tuner(8);
  int batches = 0;
  for (; batches < 1000 && !tuner.is_settled(); ++batches) {
    tuner.observe({.interval_s = 1.0, .wait_s = batches % 8 < 4 ? 0.5 : 0.0}, tuner.ahead());
  }
  EXPECT_LE(batches, 40);
}

}  // namespace
}  // namespace roentgen::data
