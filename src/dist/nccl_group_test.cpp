// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests how ranks join and leave the group of NCCL, its memory, and how often they ask NCCL for its state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <thread>

#include "core/error.h"
#include "dist/nccl_ranks_testing.h"

namespace roentgen::dist {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr std::int64_t kAverages = 5;

/// Returns for each rank its error text, or the name of its device average. `free_bytes` is the free memory of rank 1.
std::vector<std::string> ways_with(int ranks, const std::string& algorithm, std::size_t free_bytes) {
  std::vector<std::string> ways(static_cast<std::size_t>(ranks));
  const auto thrown = as_ranks(ranks, {.algorithm = algorithm}, [&](Rank& rank) {
    if (rank.number == 1 || ranks == 1) rank.twin.set_free_bytes(free_bytes);
    rank.comm.use_device(rank.device);
    ways[static_cast<std::size_t>(rank.number)] = rank.comm.device_way();
  });
  for (std::size_t i = 0; i < ways.size(); ++i) ways[i] += thrown[i];
  return ways;
}

TEST(NcclGroup, too_little_memory_is_refused_on_all_ranks) {
  for (const char* const algorithm : {"auto", "nccl"}) {
    EXPECT_THAT(ways_with(3, algorithm, kNcclBytes / 2),
                testing::Each(HasSubstr("memory of the GPU of rank 1: expected at most 768.0 MiB (free memory), got "
                                        "1536.0 MiB for NCCL (--reduce exchange needs none)")));
    EXPECT_THAT(ways_with(3, algorithm, kNcclBytes), testing::Each("NCCL twin"));
  }
  EXPECT_THAT(ways_with(2, "exchange", 0), testing::Each(""));
  EXPECT_THAT(ways_with(1, "nccl", 0), testing::Each("NCCL twin")) << "no connections";
}

/// NCCL that is idle only after some calls of is_idle(), of which it counts all.
class SlowTwin final : public NcclTwin {
 public:
  /// @param busy number of calls that return false; at the first that returns true, `is_idle` is set
  SlowTwin(std::int64_t busy, std::atomic<bool>& is_idle)
      : NcclTwin(twin_device()), busy_(busy), has_been_idle_(is_idle) {}
  [[nodiscard]] bool is_idle() override {
    if (++looks_ <= busy_ || !NcclTwin::is_idle()) return false;
    has_been_idle_ = true;
    return true;
  }
  [[nodiscard]] std::int64_t looks() const { return looks_; }

 private:
  const std::int64_t busy_;
  std::int64_t looks_ = 0;
  std::atomic<bool>& has_been_idle_;
};

TEST(NcclGroup, no_rank_has_joined_before_all_have) {
  std::atomic<bool> has_joined = false;
  const auto thrown = as_ranks(2, {.algorithm = "nccl"}, [&](Rank& rank) {
    if (rank.number == 1) {
      rank.device.make_nccl = [&] { return std::make_unique<SlowTwin>(10'000, has_joined); };
    }
    rank.comm.use_device(rank.device);
    EXPECT_TRUE(has_joined) << "rank " << rank.number;
  });
  EXPECT_THAT(thrown, testing::Each(""));
}

TEST(NcclGroup, only_the_oldest_asks_for_failures) {
  runtime::TwinDevice twin;
  const auto memory = twin.make_device_buffer(kCount * sizeof(float));
  const runtime::DeviceSpan<float> values{reinterpret_cast<float*>(memory->address()), kCount, memory->copies()};
  const auto group = make_communicator("single");
  std::atomic<bool> is_idle = false;
  auto made = std::make_unique<SlowTwin>(0, is_idle);
  const SlowTwin& nccl = *made;
  NcclAverages averages(*group, twin, {.calls = std::move(made)});
  averages.join(kLong);
  const auto gradients = twin.make_twin_stream();
  std::promise<void> computed;
  gradients->run([&] { computed.get_future().wait(); });
  const auto ready = twin.make_event(), done = twin.make_event();
  gradients->record(*ready);
  std::vector<NcclAverage*> begun;
  for (std::int64_t i = 0; i < kAverages; ++i) begun.push_back(&averages.begin(values, *ready, *done));
  const auto advance = [&] {
    for (NcclAverage* each : begun) static_cast<void>(each->advance(0));
  };
  while (!begun.back()->is_queued()) advance();
  const std::int64_t before = nccl.looks();
  advance();
  EXPECT_EQ(nccl.looks(), before + 1) << "one for all averages that are queued";
  EXPECT_FALSE(begun.front()->is_ready());
  computed.set_value();
  std::int64_t ended = 0;
  while (ended < kAverages) {
    if (begun[static_cast<std::size_t>(ended)]->advance(0)) ++ended;
  }
  averages.end(kLong);
}

TEST(NcclGroup, release_after_a_failure_is_watched) {
  runtime::TwinDevice twin;
  LocalGroup group(2);
  Mailboxes boxes(2);
  std::string told;
  bool is_over = false;
  const auto watch = [&](const std::exception_ptr& failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const Error& error) {
      told = error.what();
    }
    return std::shared_ptr<void>(nullptr, [&](std::nullptr_t) { is_over = true; });
  };
  class WatchedTwin final : public NcclTwin {
   public:
    WatchedTwin(const std::string& text, const bool& is_watch_over)
        : NcclTwin(twin_device()), told_(text), is_over_(is_watch_over) {}
    ~WatchedTwin() override { EXPECT_TRUE(!told_.empty() && !is_over_) << "aborted while it is watched"; }
    WatchedTwin(const WatchedTwin&) = delete;
    WatchedTwin& operator=(const WatchedTwin&) = delete;

   private:
    const std::string& told_;
    const bool& is_over_;
  };
  // The other rank agrees to use NCCL and never joins.
  std::jthread other([&] {
    CommThread comm([&] { return std::make_unique<MailboxMember>(boxes, group, 1, 1U); }, milliseconds{300},
                    {.algorithm = "nccl"});
    runtime::TwinDevice its;
    try {
      comm.use_device({.device = its, .id = "twin:1", .make_nccl = [] {
                         class NeverIdle final : public NcclTwin {
                          public:
                           using NcclTwin::NcclTwin;
                           [[nodiscard]] bool is_idle() override { return false; }
                         };
                         return std::make_unique<NeverIdle>(twin_device());
                       }});
      ADD_FAILURE() << "joined";
    } catch (const CommError&) {
    }
  });
  CommThread comm([&] { return std::make_unique<MailboxMember>(boxes, group, 0, 0U); }, milliseconds{300},
                  {.algorithm = "nccl"}, watch);
  EXPECT_THROW(
      comm.use_device(
          {.device = twin, .id = "twin:0", .make_nccl = [&] { return std::make_unique<WatchedTwin>(told, is_over); }}),
      CommError);
  EXPECT_THAT(told, HasSubstr("NCCL's group: expected all 2 ranks within 300 ms"));
  EXPECT_TRUE(is_over);
}

}  // namespace
}  // namespace roentgen::dist
