// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/read_tuner.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "data/stage/pool_tuner.h"

namespace roentgen::data {
namespace {

/// Model of a pool, its storage and its consumer. A batch takes work_s of decoding and, on idle storage, latency_s of
/// waiting, summed over threads. The storage delivers at most `most_batches_per_s`, and the consumer needs step_s per
/// batch.
struct Case {
  double work_s = 1.0;
  double latency_s = 0.0;
  double step_s = 0.0;
  double most_batches_per_s = 1e9;
  int decoders = 2;

  /// Steady-state times of a batch with `readers` readers. `decoders` threads work at once, and the other threads are
  /// blocked.
  [[nodiscard]] BatchTimes batch(int readers) const {
    const double threads = decoders + readers;
    const double made_s = std::max({work_s / decoders, (work_s + latency_s) / threads, 1.0 / most_batches_per_s});
    const double interval_s = std::max(made_s, step_s);
    // Storage at its limit answers more slowly the more requests it gets.
    const double queued_s = made_s > (work_s + latency_s) / threads && made_s > work_s / decoders
                                ? threads * interval_s - work_s
                                : latency_s;
    return {.interval_s = interval_s, .wait_s = interval_s - step_s, .work_s = work_s, .blocked_s = queued_s};
  }
};

ReadTuner run(const Case& one, int batches, ReadTuner tuner = ReadTuner(32)) {
  for (int i = 0; i < batches; ++i) tuner.observe(one.batch(tuner.readers()), one.decoders);
  return tuner;
}
constexpr int kEnough = 1 + 10 * WorkerTuner::kWindow;

TEST(ReadTuner, reads_nothing_ahead_where_storage_answers_at_once) {
  const ReadTuner tuner = run({.latency_s = 0.05}, kEnough);
  EXPECT_EQ(tuner.readers(), 0);
  EXPECT_TRUE(tuner.is_settled());
}

TEST(ReadTuner, takes_what_keeps_the_decoding_threads_at_work) {
  const ReadTuner tuner = run({.latency_s = 3.0}, kEnough);
  EXPECT_EQ(tuner.readers(), 15) << "2.5 times 2 threads, each blocked for 3 s in 1 s of work";
  EXPECT_TRUE(tuner.is_settled());
}

TEST(ReadTuner, takes_no_more_than_there_are) {
  EXPECT_EQ(run({.latency_s = 300.0}, kEnough).readers(), 32);
  EXPECT_EQ(run({.latency_s = 300.0}, kEnough, ReadTuner(3)).readers(), 3);
  EXPECT_EQ(run({.latency_s = 300.0}, kEnough, ReadTuner(0)).readers(), 0);
}

TEST(ReadTuner, takes_none_where_nobody_waits) {
  EXPECT_EQ(run({.latency_s = 3.0, .step_s = 10.0}, kEnough).readers(), 0);
}

TEST(ReadTuner, gives_up_what_is_not_needed_any_more) {
  const Case slow{.latency_s = 3.0};
  Case later = slow;
  later.step_s = 2.0;
  const ReadTuner tuner = run(later, kEnough, run(slow, kEnough));
  EXPECT_EQ(tuner.readers(), 4) << "2.5 times 3 s of waiting every 2 s";
}

TEST(ReadTuner, takes_some_when_the_storage_becomes_slow) {
  const ReadTuner fast = run({.latency_s = 0.0}, kEnough);
  EXPECT_EQ(fast.readers(), 0);
  EXPECT_EQ(run({.latency_s = 3.0}, kEnough, fast).readers(), 15);
}

TEST(ReadTuner, goes_back_where_the_storage_gives_no_more) {
  // Two threads already get everything that the storage delivers.
  const Case limited{.work_s = 0.1, .latency_s = 2.0, .most_batches_per_s = 0.9};
  ReadTuner tuner(32);
  int most = 0, windows_with_more = 0;
  constexpr int kWindows = 40;
  for (int i = 0; i < 1 + kWindows * WorkerTuner::kWindow; ++i) {
    tuner.observe(limited.batch(tuner.readers()), limited.decoders);
    most = std::max(most, tuner.readers());
    windows_with_more += i % WorkerTuner::kWindow == 0 && tuner.readers() > 0 ? 1 : 0;
  }
  EXPECT_GT(most, 0) << "it has to try";
  EXPECT_LE(windows_with_more, kWindows / 8) << "and seldom again";
}

TEST(PoolTuner, settles_readers_before_decoding_threads_and_says_both) {
  PoolTuner tuner({.workers = 2, .is_tuned = true, .readers = 32, .is_read_tuned = true, .batches_ahead = 2});
  const Case slow{.latency_s = 3.0};
  bool has_settled = false;
  for (int i = 0; i < 200 && !has_settled; ++i) has_settled = tuner.observe(slow.batch(tuner.readers()), 0);
  EXPECT_TRUE(has_settled);
  EXPECT_EQ(tuner.workers(), 2);
  EXPECT_EQ(tuner.readers(), 15);
  EXPECT_NE(tuner.text().find("2 of 2 decoding threads, 15 that read files ahead, 2 of 2 batches ahead"),
            std::string::npos)
      << tuner.text();
}

TEST(PoolTuner, counts_waiting_as_work_where_the_decoding_threads_do_it) {
  PoolTuner tuner({.workers = 8, .is_tuned = true});
  for (int i = 0; i < 200; ++i) {
    tuner.observe({.interval_s = 1.0, .work_s = 0.5, .blocked_s = 2.0}, 0);
  }
  EXPECT_EQ(tuner.workers(), 4) << "2.5 s of every second, and a third more";
}

TEST(PoolTuner, keeps_to_the_threads_that_the_system_gives) {
  PoolTuner tuner({.workers = 2, .readers = 32, .is_read_tuned = true});
  const Case slow{.latency_s = 3.0};
  for (int i = 0; i < 100; ++i) tuner.observe(slow.batch(tuner.readers()), 0);
  EXPECT_EQ(tuner.readers(), 15);
  tuner.limit_readers(3);
  EXPECT_EQ(tuner.readers(), 3);
  for (int i = 0; i < 100; ++i) tuner.observe(slow.batch(tuner.readers()), 0);
  EXPECT_EQ(tuner.readers(), 3);
}

TEST(PoolTuner, leaves_alone_what_the_pipeline_says) {
  PoolTuner tuner({.workers = 2, .readers = 5, .batches_ahead = 3});
  EXPECT_FALSE(tuner.does_tune());
  EXPECT_EQ(tuner.readers(), 5);
  EXPECT_EQ(tuner.ahead(), 3);
}

}  // namespace
}  // namespace roentgen::data
