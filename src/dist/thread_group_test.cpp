// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/thread_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <thread>
#include <vector>

#include "core/error.h"
#include "dist/collectives_testing.h"
#include "dist/comm_thread.h"

namespace roentgen::dist {
namespace {

using testing::HasSubstr;
constexpr std::chrono::milliseconds kLong{60'000};

// Runs `body` on every rank, each in a thread.
void on_all(int size, const std::function<void(Communicator& member)>& body) {
  ThreadGroup group(size, "here");
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] { body(*group.member(rank)); });
  }
}

TEST(ThreadGroup, has_all_collectives) {
  for (int size = 1; size <= 4; ++size) {
    on_all(size, [size](Communicator& member) {
      expect_refuses_bad_arguments(member);
      expect_reduces(member, kLong);
      expect_scatters_and_gathers(member, kLong);
      expect_exchanges(member, kLong);
      const int rank = member.rank();
      EXPECT_EQ(member.local_rank(), rank);
      EXPECT_EQ(member.local_size(), size);
      std::array<std::byte, 2> text{static_cast<std::byte>(rank), std::byte{7}};
      member.broadcast(text, size - 1, {"text"}).wait(kLong);
      EXPECT_EQ(text[0], static_cast<std::byte>(size - 1));
      std::array<double, 3> sums{1.0, static_cast<double>(rank), -2.0};
      member.all_reduce_sum(sums, {"sums"}).wait(kLong);
      EXPECT_EQ(sums, (std::array<double, 3>{1.0 * size, size * (size - 1) / 2.0, -2.0 * size}));
      std::array<float, 1> mean{static_cast<float>(3 * rank)};
      member.all_reduce_mean(mean, {"mean"}).wait(kLong);
      EXPECT_FLOAT_EQ(mean[0], 1.5F * static_cast<float>(size - 1));
      std::vector<std::byte> all(static_cast<std::size_t>(size));
      all[static_cast<std::size_t>(rank)] = static_cast<std::byte>(rank + 1);
      member.all_gather(std::span(all).subspan(static_cast<std::size_t>(rank), 1), all, {"all"}).wait(kLong);
      for (int other = 0; other < size; ++other) {
        EXPECT_EQ(all[static_cast<std::size_t>(other)], static_cast<std::byte>(other + 1));
      }
      member.barrier({"end"}).wait(kLong);
    });
  }
}

// The algorithms of reduce_list.h run on messages.
TEST(ThreadGroup, averages_gradients_by_messages_in_the_order_of_ranks) {
  constexpr int kSize = 3;
  constexpr std::size_t kCount = 1'000;
  ThreadGroup group(kSize, "here");
  const auto value = [](int rank, std::size_t i) {
    return std::ldexp(static_cast<float>((i * 7 + 1) % 101) - 50.0F, 4 * rank - static_cast<int>(i % 9));
  };
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < kSize; ++rank) {
    threads.emplace_back([&, rank] {
      CommThread thread([&] { return group.member(rank); }, kLong, {.algorithm = "exchange", .segment = 100});
      const auto host = runtime::make_cpu_device();
      for (int again = 0; again < 3; ++again) {
        std::vector<float> gradients(kCount);
        for (std::size_t i = 0; i < kCount; ++i) gradients[i] = value(rank, i);
        thread.wait(thread.all_reduce_mean(runtime::host_span(gradients), runtime::reached_event(), {"bucket", again}));
        for (std::size_t i = 0; i < kCount; ++i) {
          ASSERT_EQ(gradients[i], (value(0, i) + value(1, i) + value(2, i)) * (1.0F / kSize)) << i;
        }
      }
    });
  }
}

TEST(ThreadGroup, names_who_is_missing) {
  ThreadGroup group(2, "here");
  const auto member = group.member(0);
  std::array<float, 1> data{};
  std::array<std::byte, 1> letter{};
  EXPECT_THAT([&] { member->reduce_sum(data, 0, {"sum"}).wait(std::chrono::milliseconds{0}); },
              testing::ThrowsMessage<CommError>(
                  HasSubstr("[dist.threads] sum: expected all 2 ranks within 0 ms, got no sign of rank 1 (here)")));
  EXPECT_THAT([&] { member->receive(letter, {.rank = 1}, {"letter"}).wait(std::chrono::milliseconds{0}); },
              testing::ThrowsMessage<CommError>(HasSubstr("no sign of rank 1 (here)")));
}

TEST(ThreadGroup, a_failure_ends_the_waits_of_others_and_is_told_once) {
  ThreadGroup group(2, "here");
  const auto first = group.member(0), second = group.member(1);
  std::array<float, 1> data{};
  std::array<std::byte, 1> letter{};
  Pending sum = first->all_reduce_sum(data, {"sum"});
  Pending sent = first->send(letter, {.rank = 1}, {"letter"});
  class Endless final : public Composite {
   public:
    [[nodiscard]] bool advance(int /*tag*/) override { return false; }
  } endless;
  Pending composed = first->compose(endless, {"composite"});
  EXPECT_FALSE(sum.is_done());
  EXPECT_FALSE(sent.is_done());
  EXPECT_FALSE(composed.is_done());
  EXPECT_TRUE(second->claim_failure());
  EXPECT_FALSE(first->claim_failure());
  second->abandon();
  for (Pending* const pending : {&sum, &sent, &composed}) {
    EXPECT_THAT([&] { static_cast<void>(pending->is_done()); },
                testing::ThrowsMessage<CommError>(HasSubstr("no failure of another rank, got a failure of rank 1")));
  }
}

}  // namespace
}  // namespace roentgen::dist
