// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests the time of communication that computing does not hide, with an imitation of NCCL.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <semaphore>
#include <utility>

#include "core/timeline.h"
#include "dist/nccl_ranks_testing.h"

namespace roentgen::dist {
namespace {

/// Semaphores that hold a rank's last bucket before it is computed, and its average before it starts.
struct Holds {
  std::binary_semaphore compute{0}, has_begun{0}, average{0};

  /// Returns NCCL whose averages of the last bucket release `has_begun` and wait for `average`.
  std::unique_ptr<NcclCalls> make_nccl() {
    NcclTwinDevice device = twin_device();
    device.queue = [this, queue = device.queue, calls = std::int64_t{0}](runtime::Stream& stream,
                                                                         std::function<bool()> work) mutable {
      const bool is_last = ++calls % kBuckets == 0;
      queue(stream, [this, work = std::move(work), is_held = is_last]() mutable {
        if (std::exchange(is_held, false)) {
          has_begun.release();
          average.acquire();
        }
        return work();
      });
    };
    return std::make_unique<NcclTwin>(std::move(device));
  }
};

TEST(NcclAverages, exposed_time_is_that_from_the_last_gradient_until_its_average) {
  constexpr std::size_t kUpdates = 3;
  const auto thrown = as_ranks(2, {.algorithm = "nccl"}, [&](Rank& rank) {
    Holds holds;
    rank.device.make_nccl = [&] { return holds.make_nccl(); };
    rank.comm.use_device(rank.device);
    Timeline timeline;
    rank.comm.trace(&timeline);
    struct Times {
      std::int64_t uncomputed_ns, ready_ns, settled_ns;
    };
    std::vector<Times> times;
    Gradients gradients(rank);
    for (std::size_t update = 0; update < kUpdates; ++update) {
      const auto tickets = gradients.queue([&](std::int64_t bucket) {
        if (bucket + 1 == kBuckets) holds.compute.acquire();
      });
      for (const std::int64_t ticket : tickets) rank.comm.wait(ticket);
      Times& at = times.emplace_back();
      at.uncomputed_ns = Timeline::now_ns();
      holds.compute.release();
      holds.has_begun.acquire();
      // Between two calls, the communication thread polls all averages, so it knows that the gradients are ready.
      for (int i = 0; i < 2; ++i) rank.comm.call([](Communicator&) {});
      at.ready_ns = Timeline::now_ns();
      holds.average.release();
      rank.comm.settle();
      at.settled_ns = Timeline::now_ns();
    }
    std::vector<Span> last = timeline.spans();
    std::erase_if(last, [](const Span& span) { return span.index + 1 != kBuckets; });
    ASSERT_EQ(last.size(), kUpdates);
    std::int64_t exposed_ns = 0;
    for (std::size_t i = 0; i < kUpdates; ++i) {
      EXPECT_GE(last[i].started_ns, times[i].uncomputed_ns);
      EXPECT_LE(last[i].started_ns, times[i].ready_ns);
      EXPECT_GE(last[i].end_ns, times[i].ready_ns);
      EXPECT_LE(last[i].end_ns, times[i].settled_ns);
      exposed_ns += last[i].end_ns - last[i].started_ns;
    }
    EXPECT_NEAR(rank.comm.exposed_s(), 1e-9 * static_cast<double>(exposed_ns), 1e-12) << "rounding of double";
  });
  EXPECT_THAT(thrown, testing::Each(""));
}

}  // namespace
}  // namespace roentgen::dist
