// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/work_permits.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

namespace roentgen::data {
namespace {

/// Threads that request a permit in the given order: each starts when the previous threads wait.
class Queue {
 public:
  explicit Queue(WorkPermits& permits) : permits_(permits) {}
  void add(int thread, std::int64_t order) {
    threads_.emplace_back([this, thread, order] {
      const WorkPermit permit(permits_, thread, order);
      served_.push_back(order);  // only one permit is in use at a time
    });
    while (permits_.waiting() < static_cast<int>(threads_.size())) std::this_thread::yield();
  }
  std::vector<std::int64_t> served() {
    threads_.clear();
    return served_;
  }

 private:
  WorkPermits& permits_;
  std::vector<std::int64_t> served_;
  std::vector<std::jthread> threads_;
};

TEST(WorkPermits, serve_the_smallest_order_first) {
  WorkPermits permits(1, 5);
  Queue queue(permits);
  {
    const WorkPermit held(permits, 4, 100);
    queue.add(0, 7);
    queue.add(1, 3);
    queue.add(2, 9);
    queue.add(3, 1);
  }
  EXPECT_EQ(queue.served(), (std::vector<std::int64_t>{1, 3, 7, 9}));
}

TEST(WorkPermits, give_out_again_what_came_back_last) {
  WorkPermits permits(3, 3);
  const int first = permits.acquire(0, 0), second = permits.acquire(1, 1), third = permits.acquire(2, 2);
  EXPECT_EQ(first + second + third, 3) << "each index once";
  permits.release(first);
  permits.release(third);
  permits.release(second);
  EXPECT_EQ(permits.acquire(0, 3), second);
  EXPECT_EQ(permits.acquire(1, 4), third);
}

TEST(WorkPermits, that_are_fewer_let_nobody_in_until_enough_came_back) {
  WorkPermits permits(3, 4);
  const int first = permits.acquire(0, 0), second = permits.acquire(1, 1);
  permits.allow(1);
  Queue queue(permits);
  queue.add(2, 5);
  permits.release(first);
  EXPECT_EQ(permits.waiting(), 1) << "one is still out";
  permits.release(second);
  EXPECT_EQ(queue.served(), std::vector<std::int64_t>{5});
}

TEST(WorkPermits, that_are_more_are_given_to_who_waits) {
  WorkPermits permits(2, 3);
  permits.allow(1);
  const WorkPermit held(permits, 0, 0);
  Queue queue(permits);
  queue.add(1, 1);
  permits.allow(2);
  EXPECT_EQ(queue.served(), std::vector<std::int64_t>{1});
}

TEST(WorkPermits, are_never_out_more_often_than_allowed) {
  constexpr int kMost = 3, kThreads = 8, kTurns = 200;
  WorkPermits permits(kMost, kThreads);
  std::vector<std::atomic<int>> users(kMost);
  std::atomic<int> out = 0, most = 0, shared = 0;
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int turn = 0; turn < kTurns; ++turn) {
        const WorkPermit permit(permits, thread, kThreads * turn + thread);
        const int now = ++out;
        for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) continue;
        if (++users[static_cast<std::size_t>(permit.index())] > 1) ++shared;
        --users[static_cast<std::size_t>(permit.index())];
        --out;
      }
    });
  }
  threads.clear();
  EXPECT_LE(most, kMost);
  EXPECT_EQ(shared, 0) << "two threads had the same permit";
}

}  // namespace
}  // namespace roentgen::data
